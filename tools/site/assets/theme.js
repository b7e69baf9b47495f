// Before the page is shown, so that it does not flash.
try {
  const chosen = localStorage.getItem('theme')
  if (chosen) document.documentElement.dataset.theme = chosen
} catch {}
