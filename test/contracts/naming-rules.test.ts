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
      "Reason is too long: 501 of at most 500 characters",
    ]
  `);
});

test('a backup is named by its id', async () => {
  expect(await booth.said('/backup show staging yesterday!')).toMatchInlineSnapshot(`
    [
      "Backup must be a backup id from the console (you typed yesterday!)",
    ]
  `);
  expect(await booth.said(`/backup show staging ${'a'.repeat(65)}`)).toMatchInlineSnapshot(`
    [
      "Backup must be a backup id from the console (you typed aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…)",
    ]
  `);
});

test('a pipe is named as the configuration names it, or by its id', async () => {
  expect(await booth.said('/pipe settings analytics-prod order')).toMatchInlineSnapshot(`
    [
      "There's no pipe called “order”. Did you mean:",
      "[settings orders]",
    ]
  `);
  expect(await booth.said('/pipe settings analytics-prod zebra')).toMatchInlineSnapshot(`
    [
      "There's no pipe called “zebra”. Pipe names are set in signalbox.yaml; an id also works.",
    ]
  `);
});
