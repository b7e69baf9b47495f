/** The handler name of dead letters that reached no handler. */
export const unrouted = '-'
