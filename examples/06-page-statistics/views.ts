export interface View {
  readonly page: string
}

const views = Array.from({ length: 1_000 }, (_, index) => ({
  id: `view-${index}`,
  page: ['/home', '/tea', '/help'][index % 3] as string,
}))

/** Every fifth one is delivered again, and every tenth a third time. */
export const deliveries = [
  ...views,
  ...views.filter((_, index) => index % 5 === 0),
  ...views.filter((_, index) => index % 10 === 0),
]
