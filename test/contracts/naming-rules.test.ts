import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ContractBot, openContractBot } from './contract-bot.ts';

let bot: ContractBot;
beforeAll(async () => {
  bot = await openContractBot();
});
afterAll(() => bot.close());

test('a reason has at most 500 characters', async () => {
  const short = await bot.run(`/service stop staging ${'a'.repeat(500)}`);
  expect(short[0]).toBe('Stop staging?');
  expect(await bot.run(`/service stop staging ${'a'.repeat(501)}`)).toEqual([
    'Reason is too long: 501 of at most 500 characters',
    `/service stop staging ${'a'.repeat(501)}`,
  ]);
});

test('a backup is selected by its id', async () => {
  expect(await bot.run('/backup show staging yesterday!')).toEqual([
    'Which backup?',
    'staging has no backup with the id “yesterday”. Choose one by its id; “latest” is the last finished one.',
    '[List its backups]',
    '/backup show staging yesterday',
  ]);
  expect(await bot.run(`/backup show staging ${'a'.repeat(65)}`)).toEqual([
    'Backup must be latest or a backup id from the console, not aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…',
    `/backup show staging ${'a'.repeat(65)}`,
  ]);
});

test('a pipe is selected by its configured name or its id', async () => {
  expect(await bot.run('/pipe settings analytics-prod order')).toEqual([
    "There's no pipe called “order”. Did you mean:",
    '[orders]',
    '/pipe settings analytics-prod order',
  ]);
  expect(await bot.run('/pipe settings analytics-prod zebra')).toEqual([
    "There's no pipe called “zebra”. Pipe names are set in signalbox.yaml; an id also works.",
    '/pipe settings analytics-prod zebra',
  ]);
});
