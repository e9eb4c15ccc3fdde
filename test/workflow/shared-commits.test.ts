import { expect, test } from 'vitest';
import { shareCommits } from '../../src/workflow/old/shared-commits.ts';

/** Commits that wait for the test, and what each of them stores. */
function heldCommits() {
  const commits: { readonly items: readonly string[]; readonly end: (error?: Error) => void }[] =
    [];
  const store = shareCommits(
    (items: readonly string[]) =>
      new Promise<(item: string) => string>((resolve, reject) => {
        const end = (error?: Error) =>
          error ? reject(error) : resolve((item) => `${item} stored`);
        commits.push({ items, end });
      }),
  );
  return { commits, store };
}

test('items that arrive during a commit share the next one', async () => {
  const { commits, store } = heldCommits();
  const all = Promise.all(['a', 'b', 'c'].map(store));
  expect(commits.map(({ items }) => items)).toEqual([['a']]);
  commits[0]?.end();
  await expect.poll(() => commits.length).toBe(2);
  expect(commits[1]?.items).toEqual(['b', 'c']);
  commits[1]?.end();
  expect(await all).toEqual(['a stored', 'b stored', 'c stored']);
});

test('a commit that fails rejects its own items, and no others', async () => {
  const { commits, store } = heldCommits();
  const first = store('a');
  const second = store('b');
  commits[0]?.end(new Error('disk full'));
  await expect(first).rejects.toThrow('disk full');
  await expect.poll(() => commits.length).toBe(2);
  commits[1]?.end();
  expect(await second).toBe('b stored');
});
