import { outsideTrace } from '../../base/log.ts';

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Items that arrive during one commit share the next one, so that a burst needs few commits. `commit`
 * stores them in one transaction and returns the result of each. If it rejects, all of them fail.
 */
export function shareCommits<Item, Result>(
  commit: (items: readonly Item[]) => Promise<(item: Item) => Result>,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let running = false;

  async function commitAll(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const resultOf = await commit(batch.map(({ item }) => item));
      for (const { item, resolve } of batch) resolve(resultOf(item));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await commitAll(batch);
    }
    running = false;
  }
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      // One commit serves several items, so that it belongs to the trace of none.
      if (!running) void outsideTrace(run);
    });
}
