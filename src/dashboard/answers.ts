import { createHash } from 'node:crypto'
import type { Refusal } from './refusal.ts'

const everywhere: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

/** For answers that are no page: nothing in them may run, wherever they are opened. */
const nothing = "default-src 'none'; frame-ancestors 'none'"

export function jsonAnswer(value: unknown, status = 200): Response {
  const headers = {
    ...everywhere,
    'content-type': 'application/json; charset=utf-8',
    'content-security-policy': nothing,
    'cache-control': 'no-store',
  }
  return new Response(JSON.stringify(value ?? null), { status, headers })
}

export function refusedAnswer(
  { status, code, message }: Refusal,
  more: Readonly<Record<string, string>> = {},
): Response {
  const answer = jsonAnswer({ code, message }, status)
  for (const [name, value] of Object.entries(more)) answer.headers.set(name, value)
  return answer
}

/** An answer that a route has made itself, with the headers that all have. */
export function secured(answer: Response): Response {
  const headers = new Headers(answer.headers)
  for (const [name, value] of Object.entries({ ...everywhere, 'content-security-policy': nothing }))
    if (!headers.has(name)) headers.set(name, value)
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  return new Response(answer.body, { status: answer.status, headers })
}

/**
 * The whole page in one answer, which needs no other file: wherever it is mounted, no path can be wrong. Its script and its style are
 * allowed by their hashes, and no other can run. Trusted types make the browser refuse every attempt to turn text into HTML.
 */
export function pageAnswer({ script, style }: { readonly script: string; readonly style: string }): () => Response {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>justonce</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<div id="page"></div>
<noscript>The dashboard needs JavaScript. The command line does not: npx justonce status</noscript>
<script type="module">${script}</script>
</body>
</html>
`
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
  const headers = {
    ...everywhere,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    // Small, and asked for rarely; an old page must not meet a new server.
    'cache-control': 'no-cache',
  }
  return () => new Response(html, { headers })
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
