import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Booth, openBooth } from './booth.ts';

let booth: Booth;
beforeAll(async () => {
  booth = await openBooth();
});
afterAll(() => booth.close());

test('a reason has at most 500 characters', async () => {
  const short = await booth.said(`/service stop staging ${'a'.repeat(500)}`);
  expect(short[0]).toBe('Stop staging?');
  expect(await booth.said(`/service stop staging ${'a'.repeat(501)}`)).toMatchInlineSnapshot(`
    [
      "reason may have 500 characters, not 501",
    ]
  `);
});

test('a backup is named by its id', async () => {
  expect(await booth.said('/backup show staging yesterday!')).toMatchInlineSnapshot(`
    [
      "Backup must be the id of a backup, from the console (you said yesterday!)",
    ]
  `);
  expect(await booth.said(`/backup show staging ${'a'.repeat(65)}`)).toMatchInlineSnapshot(`
    [
      "Backup must be the id of a backup, from the console (you said aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…)",
    ]
  `);
});

test('a pipe is named as the configuration names it, or by its id', async () => {
  expect(await booth.said('/pipe settings analytics-prod order')).toMatchInlineSnapshot(`
    [
      "I know no pipe “order”. Did you mean:",
      "[settings orders]",
    ]
  `);
  expect(await booth.said('/pipe settings analytics-prod zebra')).toMatchInlineSnapshot(`
    [
      "I know no pipe “zebra”. Pipes are named in signalbox.yaml; an id works as well.",
    ]
  `);
});
