export interface Profile {
  readonly user_id: number
  readonly name: string
  readonly email: string
  readonly changed_at: number
}

/** The second change overtook the first, and the first was sent again. */
export const arrivals: readonly Profile[] = [
  { user_id: 7, name: 'Ada', email: 'ada@old.example', changed_at: 1_000 },
  { user_id: 7, name: 'Ada Lovelace', email: 'ada@new.example', changed_at: 3_000 },
  { user_id: 7, name: 'Ada King', email: 'ada@old.example', changed_at: 2_000 },
]
