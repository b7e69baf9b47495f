/** DYNAMIC allows an index of 3,072 bytes and stores long columns outside the row. */
export const tableOptions = 'ENGINE = InnoDB ROW_FORMAT = DYNAMIC'
