import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { CompiledQuery, type Kysely } from 'kysely';
import type { Tables, Tx } from './schema.ts';
import type { OpenTransaction } from './transaction.ts';

const MOST_MEMBERS = 50;
/** After this time, a group takes no further transaction. */
const TAKES_WITHIN_MS = 25;

const SAVEPOINT = CompiledQuery.raw('savepoint member');
const RELEASE = CompiledQuery.raw('release member');
const ROLLBACK = CompiledQuery.raw('rollback to member');

type Body<T> = (tx: Tx) => Promise<T>;

interface Member {
  /** Runs in a savepoint, and keeps the result. Rejects if the whole transaction is lost. */
  readonly run: (tx: Tx) => Promise<void>;
  /** Passes the result on, after the commit. */
  readonly settle: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Commits transactions that wait for the one connection of SQLite together, because writing to the disk takes most
 * of a commit. Each one has a savepoint: its error rolls back only itself. No result is known before the
 * commit, and an error of the commit rejects all.
 * Source: docs/decisions/0004-commit-then-acknowledge.md#group-commit
 */
export function groupCommits(
  root: Kysely<Tables>,
  elapsed: () => number = () => performance.now(),
): OpenTransaction {
  const waiting: Member[] = [];
  let isBusy = false;

  const commitGroup = async (first: Member) => {
    const group = [first];
    const until = elapsed() + TAKES_WITHIN_MS;
    try {
      await root.transaction().execute(async (tx) => {
        for (const member of group) {
          await member.run(tx);
          if (group.length === MOST_MEMBERS || elapsed() > until) continue;
          const next = waiting.shift();
          if (next) group.push(next);
        }
      });
    } catch (error) {
      for (const member of group) member.fail(error);
      return;
    }
    for (const member of group) member.settle();
  };

  const commitAll = async () => {
    if (isBusy) return;
    isBusy = true;
    while (waiting.length > 0) {
      // What other users of the connection begin meanwhile shares the commit.
      await turn();
      const first = waiting.shift();
      if (first) await commitGroup(first);
    }
    isBusy = false;
  };

  return (body) =>
    new Promise((resolve, reject) => {
      waiting.push(memberOf(body, resolve, reject));
      void commitAll();
    });
}

function memberOf<T>(
  body: Body<T>,
  resolve: (value: T) => void,
  reject: (error: unknown) => void,
): Member {
  // The body belongs to the trace of its caller, not to that of the group.
  const inContext = AsyncLocalStorage.snapshot();
  let settle: () => void = () => reject(new Error('The transaction did not run'));
  const run = async (tx: Tx) => {
    await tx.executeQuery(SAVEPOINT);
    try {
      const value = await inContext(() => body(tx));
      settle = () => resolve(value);
    } catch (error) {
      settle = () => reject(error);
      await rollBack(tx, error);
    }
    await tx.executeQuery(RELEASE);
  };
  return { run, settle: () => settle(), fail: reject };
}

/** On a full disk, for example, SQLite rolls back everything: then the first error is the one to report. */
async function rollBack(tx: Tx, error: unknown): Promise<void> {
  // Other statements of the body may still wait. SQLite runs each at once: after this turn none is left.
  await turn();
  try {
    await tx.executeQuery(ROLLBACK);
  } catch {
    throw error;
  }
}
