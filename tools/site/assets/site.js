const script = document.currentScript ?? document.querySelector('script[data-root]')
const root = script.dataset.root
const input = document.getElementById('search')
const found = document.getElementById('found')
const menu = document.getElementById('menu')

menu.addEventListener('click', () => {
  const isOpen = document.body.classList.toggle('menu')
  menu.setAttribute('aria-expanded', String(isOpen))
})

document.getElementById('theme').addEventListener('click', () => {
  const { dataset } = document.documentElement
  const isDark = dataset.theme ? dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
  dataset.theme = isDark ? 'light' : 'dark'
  try {
    localStorage.setItem('theme', dataset.theme)
  } catch {}
})

let loading
/** A script and not a request, so that it also works from a folder. */
function loadIndex() {
  loading ??= new Promise((resolve, reject) => {
    const element = document.createElement('script')
    element.src = `${root}assets/search.js`
    element.onload = () => resolve(window.searchEntries)
    element.onerror = reject
    document.head.append(element)
  })
  return loading
}

const isChinese = document.documentElement.lang === 'zh-CN'

/** All words must occur; titles count more than text, whole words more than parts. */
function score([heading, page, url, text], words) {
  const places = [heading.toLowerCase(), page.toLowerCase(), text.toLowerCase()]
  let total = 0
  for (const word of words) {
    const [inHeading, inPage, inText] = places.map((place) => place.includes(word))
    if (!inHeading && !inPage && !inText) return 0
    total += inHeading
      ? places[0] === word || places[0] === `${word}()`
        ? 40
        : places[0].startsWith(word)
          ? 20
          : 10
      : inPage
        ? 4
        : 1
  }
  return total + (url.startsWith('zh-CN/') === isChinese ? 5 : 0)
}

async function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) {
    found.hidden = true
    return
  }
  const entries = await loadIndex()
  const best = entries
    .map((entry) => [score(entry, words), entry])
    .filter(([points]) => points > 0)
    .sort(([a], [b]) => b - a)
    .slice(0, 20)
  found.replaceChildren(...(best.length > 0 ? best.map(([, entry]) => resultOf(entry, words)) : [nothing()]))
  found.hidden = false
}

function resultOf([heading, page, url, text], words) {
  const link = document.createElement('a')
  link.href = root + url
  const title = document.createElement('b')
  title.textContent = heading === page ? heading : `${page} › ${heading}`
  const near = text.toLowerCase().indexOf(words[0]) - 30
  const at = near <= 0 ? 0 : text.indexOf(' ', near) + 1 // the beginning of a word
  const line = document.createElement('span')
  line.textContent = text.slice(at, at + 120)
  link.append(title, line)
  return link
}

function nothing() {
  const line = document.createElement('p')
  line.textContent = 'Nothing found.'
  return line
}

input.addEventListener('focus', loadIndex, { once: true })
input.addEventListener('input', search)
input.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') found.hidden = true
  if (event.key === 'Enter' || event.key === 'ArrowDown') {
    const first = found.querySelector('a')
    if (event.key === 'Enter') first?.click()
    else first?.focus()
    event.preventDefault()
  }
})
found.addEventListener('keydown', (event) => {
  const next =
    event.key === 'ArrowDown' ? 'nextElementSibling' : event.key === 'ArrowUp' ? 'previousElementSibling' : undefined
  if (next === undefined) return
  document.activeElement?.[next]?.focus()
  event.preventDefault()
})
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || /^(?:INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '')) return
  input.focus()
  event.preventDefault()
})
document.addEventListener('click', (event) => {
  if (!event.target.closest('.search')) found.hidden = true
})
// A page that is opened deep in the list shows where it is. Only the list scrolls: the page begins with its title, or where its address says.
const nav = document.getElementById('nav')
const current = nav.querySelector('[aria-current]')
if (current)
  nav.scrollTop += current.getBoundingClientRect().top - nav.getBoundingClientRect().top - nav.clientHeight / 2
