/** DYNAMIC: with it an index may have 3,072 bytes, and long columns live outside of the row. */
export const tableOptions = 'ENGINE = InnoDB ROW_FORMAT = DYNAMIC'
