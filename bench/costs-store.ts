import { type Log, openLog } from '../src/log/index.ts';
import { signingKey } from '../src/log/keys.ts';
import { openStore } from '../src/storage/index.ts';

/** An empty log in memory, with the clock of the bench. */
export async function openBenchLog(now: () => Date): Promise<Log> {
  const store = await openStore('file::memory:', { now: () => now().getTime() });
  return openLog(store, { current: signingKey(Buffer.alloc(32, 1)), previous: [] });
}
