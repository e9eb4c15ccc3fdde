import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { run } from './engines.ts';

/** A user of the server who owns nothing. */
export interface DatabaseUser {
  readonly name: string;
  /** The URL of the same database for this user. */
  readonly url: string;
}

/** Creates a user with these rights on every table: `select, insert`. Without rights it can only connect. */
export async function createUser(ownerUrl: string, rights?: string): Promise<DatabaseUser> {
  const name = `user_${randomBytes(6).toString('hex')}`;
  const url = new URL(ownerUrl);
  const schema = url.searchParams.get('options')?.split('=')[1];
  await run(ownerUrl, `create role ${name} login`);
  onTestFinished(() => run(ownerUrl, `drop owned by ${name}; drop role ${name}`).then(() => {}));
  await run(ownerUrl, `grant usage on schema ${schema} to ${name}`);
  if (rights) {
    await run(ownerUrl, `grant ${rights} on all tables in schema ${schema} to ${name}`);
    await run(ownerUrl, `grant usage on all sequences in schema ${schema} to ${name}`);
  }
  url.username = name;
  return { name, url: url.href };
}
