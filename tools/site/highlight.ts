const keywords =
  /^(?:as|async|await|break|case|catch|class|const|continue|default|do|else|export|extends|finally|for|from|function|if|import|in|interface|let|new|of|readonly|return|switch|throw|try|type|typeof|undefined|null|true|false|while|select|insert|into|update|set|where|values|create|table|primary|key|begin|commit)$/

const token =
  /(\/\/[^\n]*|\/\*[\s\S]*?\*\/|--[^\n]*)|('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|(\b\d[\d_.]*\b)|([A-Za-z_$][\w$]*)/g

const coloured = new Set(['ts', 'js', 'sql', 'mjs'])

/** Colours what helps the eye: comments, texts, numbers, keywords. Languages that are not known stay as they are. */
export function highlight(code: string, language: string): string {
  if (!coloured.has(language)) return escaped(code)
  let html = ''
  let end = 0
  for (const found of code.matchAll(token)) {
    const [text, comment, quoted, number, word] = found
    const kind = comment ? 'c' : quoted ? 's' : number ? 'n' : word && keywords.test(word) ? 'k' : undefined
    html += escaped(code.slice(end, found.index)) + (kind ? `<i class="${kind}">${escaped(text)}</i>` : escaped(text))
    end = found.index + text.length
  }
  return html + escaped(code.slice(end))
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
