import type { Database } from '../../src/storage/old/database.ts';

/** The texts of the stored notices to the operators, oldest first. */
export async function operatorsNotices({ db }: Database): Promise<readonly string[]> {
  return (await notices(db)).filter(({ to }) => to === null).map(({ text }) => text);
}

/** The stored notices to users: the user and the text, oldest first. */
export async function userNotices({ db }: Database): Promise<readonly string[]> {
  return (await notices(db))
    .filter(({ to }) => to !== null)
    .map(({ to, text }) => `${to}: ${text}`);
}

interface Notice {
  readonly to: string | null;
  readonly text: string;
}

async function notices(db: Database['db']): Promise<readonly Notice[]> {
  const query = db.selectFrom('outbox').select('body').where('kind', '=', 'notice');
  const rows = await query.orderBy('id').execute();
  return rows.map(({ body }) => JSON.parse(body ?? '') as Notice);
}
