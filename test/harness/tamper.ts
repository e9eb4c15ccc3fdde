import { openStore } from '../../src/storage/index.ts';
import { tamper } from '../log/logs.ts';

/** Changes the database next to a bot, as an attacker who owns it, but has no key. */
export async function tamperAt(
  databaseUrl: string,
  ...statements: readonly string[]
): Promise<void> {
  const store = await openStore(databaseUrl, { as: 'beside' });
  try {
    await tamper(store, ...statements);
  } finally {
    await store.close();
  }
}
