/** Whether a name or an address is that of this machine. Without one it is. */
export function isThisMachine(host: string | undefined): boolean {
  return host === undefined || /^(?:localhost|.*\.localhost|127\..*|\[?(?:::ffff:127\..*|::1)\]?)$/.test(host)
}
