/** In full: a session with a `completion_type` would else begin another transaction, or be closed by the server. */
const noMore = 'AND NO CHAIN NO RELEASE'

export const endings = { commit: `COMMIT ${noMore}`, rollback: `ROLLBACK ${noMore}` } as const
