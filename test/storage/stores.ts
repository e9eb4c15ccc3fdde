import { onTestFinished } from 'vitest';
import { openStore, type Store, type StoreOptions } from '../../src/storage/index.ts';
import { type Engine, emptyUrl } from './engines.ts';

/** Opens an empty database, which is closed and deleted after the test. */
export async function freshStore(engine: Engine, options: StoreOptions = {}): Promise<Store> {
  return storeAt(engine === 'sqlite' ? 'file::memory:' : await emptyUrl(engine), options);
}

/** Opens a database, which may exist already, and closes it after the test. */
export async function storeAt(url: string, options: StoreOptions = {}): Promise<Store> {
  const store = await openStore(url, options);
  onTestFinished(() => store.close());
  return store;
}
