/** In full, because a `completion_type` of the session could otherwise begin another transaction or close the connection. */
const noMore = 'AND NO CHAIN NO RELEASE'

export const endings = { commit: `COMMIT ${noMore}`, rollback: `ROLLBACK ${noMore}` } as const
