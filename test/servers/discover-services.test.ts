import { expect, test } from 'vitest';
import type { OpenedDirectory } from '../../src/servers/directory.ts';
import { createDiscovery } from '../../src/servers/directory.ts';
import { NOON } from '../domain/changes-fixtures.ts';

type Directory = Pick<OpenedDirectory, 'services' | 'learnList' | 'withList'>;
type Options = Parameters<typeof createDiscovery>[0];
type List = Awaited<ReturnType<Options['organizations'][number]['reads']['services']>>;

const READ: List = { known: true, value: [], readAt: NOON };
const REFUSED: List = { known: false, gap: 'refused', why: 'no permission', status: 403 };

function discovery(over: Partial<Options> = {}, read = READ) {
  const clock = { now: NOON };
  const asked: unknown[] = [];
  const learned: unknown[] = [];
  const directory: Directory = {
    services: () => [UNLISTED, UNLISTED],
    learnList: (_, list) => void learned.push(list),
    withList: (_, list) => (list === null ? [] : [UNLISTED]),
  };
  const reads = {
    services: async (how?: unknown) => {
      asked.push(how);
      return read;
    },
  };
  const now = () => clock.now;
  const organizations = [{ id: 'o1', reads }];
  const usual = { organizations, directory, isOn: true, isReady: () => true, now };
  return { ...createDiscovery({ ...usual, ...over }), asked, learned, clock };
}

const UNLISTED = {
  ...{ id: 's', organizationId: 'o1', name: 's', aliases: [], tags: null, warehouse: null },
  ...{ team: null, pipes: [], source: 'a test', lastSeen: null },
};

const after = (seconds: number) => new Date(NOON.getTime() + seconds * 1000);

test.for<[string, List, number]>([
  ['was read: after a minute', READ, 60],
  ['cannot be read: after a minute', REFUSED, 60],
  ['a person has read 20 s before: after 40 s', { ...READ, readAt: after(-20) }, 40],
  ['got no answer: after 15 s', { ...REFUSED, gap: 'no-answer' }, 15],
])('a pass asks again for a list that %s', async ([, read, seconds]) => {
  const { pass, asked, clock } = discovery({}, read);
  await pass();
  await pass();
  clock.now = after(seconds - 1);
  await pass();
  expect(asked).toEqual([undefined]);
  clock.now = after(seconds);
  await pass();
  expect(asked).toHaveLength(2);
});

test.for<[string, Partial<Options>]>([
  ['before Slack is connected', { isReady: () => false }],
  ['with cloud.reads: contract', { isOn: false }],
])('nothing is read %s', async ([, over]) => {
  const { pass, asked } = discovery(over);
  await pass();
  expect(asked).toEqual([]);
});

test('a list that cannot be read does not replace the one before', async () => {
  const { pass, learned } = discovery({}, REFUSED);
  await pass();
  expect(learned).toEqual([]);
});

test('before sending, the list is read again with the priority of people', async () => {
  const { verify, asked, learned } = discovery();
  expect(await verify('o1')).toEqual([UNLISTED]);
  expect(asked).toEqual([{ fresh: true, waiting: true }]);
  expect(learned).toEqual([[]]);
});

test('without an answer before sending, no facts of an earlier list are used', async () => {
  const { verify } = discovery({}, REFUSED);
  expect(await verify('o1')).toEqual([]);
});

test('with cloud.reads: contract nothing is read before sending', async () => {
  const { verify, asked } = discovery({ isOn: false });
  expect(await verify('o1')).toEqual([UNLISTED, UNLISTED]);
  expect(asked).toEqual([]);
});
