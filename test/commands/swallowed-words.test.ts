import { expect, test } from 'vitest';
import type { Vocabulary } from '../../src/commands/define.ts';
import { parseLine } from '../../src/commands/parse.ts';
import { commands } from '../../src/commands/registry.ts';
import { ORGANIZATIONS, service } from './fixtures.ts';

// Words that a person means must not end in the reason, where nobody sees that they have no effect.
const vocabulary: Vocabulary = {
  commands,
  services: [
    service('analytics-prod', { tags: ['prod'], warehouse: 'main' }),
    service('finance', { tags: ['prod'], warehouse: 'main' }),
    service('staging', { tags: ['dev'], warehouse: 'lab' }),
    service('ci', { tags: ['dev'], warehouse: 'lab' }),
  ],
  alerts: [{ id: 'a1', name: '5xx rate', aliases: [] }],
  organizations: ORGANIZATIONS,
  clock: { now: new Date('2026-11-29T09:00:00Z'), zone: 'Europe/Berlin' },
};

/** What is asked, with the labels of its buttons; for a line that is understood, its values and its reason. */
function answer(line: string): string {
  const [, noun = '', rest = ''] = /^(\S+) (.*)$/.exec(line) ?? [];
  const read = parseLine(noun, rest, vocabulary);
  if (read.kind === 'misread')
    return [read.sentence, ...read.offers.map(({ label }) => `[${label}]`)].join(' ');
  if (read.kind === 'help') return 'help';
  const given = Object.entries(read.given).filter(([key, value]) => value && key !== 'reason');
  const reason = read.kind === 'intent' ? read.reason : read.given.reason;
  const values = given.map(([key, value]) => `${key}=${value}`);
  const unclear = read.kind === 'incomplete' && read.unclear ? [read.unclear] : [];
  return [read.command.name, ...values, ...(reason ? [`“${reason}”`] : []), ...unclear].join(' ');
}

const WAYS = 'Write a start as at=20:00 or in=2h, and an end as for=4h or until=18:00.';
const EACH = 'One change has one service, so each is requested on its own:';
const ONE = 'A line requests one change, so each is requested on its own:';

test.for<readonly [line: string, answer: string]>([
  // Ends and days that are no moment.
  [
    'service stop ci until end of month',
    `“until end of month” could be a time. ${WAYS} [Without it] [It is only the reason]`,
  ],
  [
    'service stop ci on 31 feb',
    `“on 31 feb” could be a time. ${WAYS} [Without it] [It is only the reason]`,
  ],
  [
    'service stop ci every night',
    `“every night” could be a time. ${WAYS} A stop or start that repeats is /service schedule. [Without it] [It is only the reason]`,
  ],
  [
    'service schedule pause ci until monday',
    '“until monday” could be a time. /service schedule pause takes none. [Without it] [It is only the reason]',
  ],
  [
    'service create reports aws eu-west-1 for 2 days',
    '“for 2 days” could be a time. Write a start as at=20:00 or in=2h. [Without it] [It is only the reason]',
  ],
  [
    'service stop ci after the import',
    `“after the import” could be a time. ${WAYS} [Without it] [It is only the reason]`,
  ],
  ['service stop ci for the next 4 hours', 'service stop service=ci for=4h'],
  [
    'service stop ci in 2 h 30',
    '“30” is a number without its key. [Without it] [It is only the reason]',
  ],
  // The zone of another place.
  ['service stop ci at 20:00 UTC+2', 'service stop service=ci at=2026-11-29T18:00Z'],
  ['service stop ci at 20:00 (New_York)', 'service stop service=ci at=2026-11-30T01:00Z'],
  ['service stop ci at=9:00 UTC-8', 'service stop service=ci at=2026-11-29T17:00Z'],
  [
    'service stop ci from 20:00 to 22:00 UTC',
    'service stop service=ci at=2026-11-29T20:00Z until=2026-11-29T22:00Z',
  ],
  [
    'service stop ci at 20:00 UTC+25',
    '“utc+25” is not the name of one time zone. In your own time zone: [today 20:00] [It is only the reason]',
  ],
  [
    'service start ci 7:00 wake up for tests',
    'service start service=ci at=07:00 “wake up for tests”',
  ],
  ['service stop ci in 1 hour (60 min)', 'service stop service=ci in=1h “(60 min)”'],
  ['service stop ci morgen um 8:00', 'service stop service=ci at=2026-11-30T08:00'],
  [
    'service stop ci 20:00-22:00 utc-5',
    'service stop service=ci at=2026-11-30T01:00Z until=2026-11-30T03:00Z',
  ],
  ['service stop ci 8:00 -10:00', 'service stop service=ci at=08:00 until=2026-11-30T10:00'],
  [
    'service stop ci 20:00-22:00 EST',
    '“20:00-22:00 EST” is a start and an end. [today 20:00 until 22:00] [It is only the reason]',
  ],
  ['service stop ci at 20:00 (Christmas)', 'service stop service=ci at=20:00 “(Christmas)”'],
  [
    'service stop ci from tomorrow 8:00 until tomorrow 10:00',
    'service stop service=ci at=2026-11-30T08:00 until=2026-11-30T10:00',
  ],
  [
    'service stop ci on wednesday from 20:00 to 22:00',
    'service stop service=ci at=2026-12-02T20:00 until=2026-12-02T22:00',
  ],
  // Numbers beside their key.
  [
    'service scale ci max 63',
    'max must be a multiple of 4 from 8 to 356, not 63: [max=60] [max=64]',
  ],
  ['service scale ci 63gb', 'max must be a multiple of 4 from 8 to 356, not 63: [max=60] [max=64]'],
  ['service scale ci 16gb', '“16gb” can mean max=16, min=16 max=16. [max=16] [min=16 max=16]'],
  ['service scale ci 0 replicas', 'replicas must be a whole number from 1 to 20, not 0'],
  [
    'service scale ci idle-timeout 3',
    'idle-timeout must be a whole number of minutes, 5 or more, not 3',
  ],
  [
    'service scale ci one more replica',
    'service scale service=ci What should the new size be? “one more replica” is no size.',
  ],
  ['alert edit 5xx rate every 10 minutes', 'alert edit alert=5xx rate interval=10m'],
  [
    'alert edit 5xx rate interval 10',
    'interval must be a number and a unit, for example 5m, 15m or 1h (you typed 10)',
  ],
  ['alert edit 5xx rate message "too many"', 'alert edit alert=5xx rate message=too many'],
  [
    'alert edit 5xx rate raise threshold by 50',
    'alert edit alert=5xx rate What should the new threshold be? “threshold by 50” is no number.',
  ],
  [
    'service scale ci min 16 max 63',
    'max must be a multiple of 4 from 8 to 356, not 63: [max=60] [max=64]',
  ],
  ['service scale ci max "64"', 'service scale service=ci maxReplicaMemoryGb=64'],
  // Words of a new service are not its name.
  [
    'service create reports aws eu-west-1 16gb',
    '“16gb” can mean max=16, min=16 max=16. [max=16] [min=16 max=16]',
  ],
  ['service create Reports 2 aws', 'service create name=Reports 2 provider=aws'],
  // Groups of services, and what they leave out.
  ['service stop all services tagged dev', `${EACH} staging, ci. [staging] [ci]`],
  ['service stop all in main', `${EACH} analytics-prod, finance. [analytics-prod] [finance]`],
  ['service stop everything except prod', `${EACH} staging, ci. [staging] [ci]`],
  ['service stop all except prod and ci', `${EACH} staging. [staging]`],
  ['service stop ci then staging', `${EACH} ci, staging. [ci] [staging]`],
  ['service stop only ci', 'service stop service=ci'],
  ['service stop dev except ci', `${EACH} staging. [staging]`],
  ['service stop all services tagged qa', '“qa” names no service, tag or warehouse.'],
  ['service stop everything except qa', '“qa” names no service, tag or warehouse.'],
  ['service stop everything except prod, staging and ci', 'It leaves out every service.'],
  ['service stop all in the lab', `${EACH} staging, ci. [staging] [ci]`],
  ['service stop dev in 2 hours', `${EACH} staging, ci. [staging] [ci]`],
  ['service stop all except ci and stagging', '“stagging” names no service, tag or warehouse.'],
  ['service stop all the dev services', `${EACH} staging, ci. [staging] [ci]`],
  // Two changes in one line.
  [
    'service start finance and stop staging',
    `${ONE} [service start finance] [service stop staging]`,
  ],
  ['service stop ci and then start it', `${ONE} [service stop ci] [service start ci]`],
  ['service stop ci and check the logs', 'service stop service=ci “and check the logs”'],
  // What people say to the bot.
  [
    'signalbox turn ci off at night',
    '“night” names no single moment. [today 20:00] [today 22:00] [It is only the reason]',
  ],
  ['signalbox shut all dev services down', `${EACH} staging, ci. [staging] [ci]`],
  ['signalbox 5xx rate', 'alert show alert=5xx rate'],
  ['signalbox 7KQ2MX', 'change show id=7KQ2MX'],
  ['signalbox how much is ci', 'cost words=ci'],
  ['signalbox 👍', 'Nothing was requested.'],
  [
    'service stop ci and start finance at 21:00',
    `${ONE} [service stop ci] [service start finance at 21:00]`,
  ],
  // Keys that the command does not have.
  [
    'service stop ci --force',
    '/service stop has no key “--force”. Keys: at, in, for, until. [Without it] [It is only the reason]',
  ],
  [
    'service stop ci -y',
    '/service stop has no key “-y”. Keys: at, in, for, until. [Without it] [It is only the reason]',
  ],
  // Days of a search.
  ['change log last 3 days', 'change log since=3d'],
  ['change log 2026-11-20 to 2026-11-25', 'change log since=2026-11-20 until=2026-11-25'],
  ['change freezes --all', 'change freezes'],
  ['service stop ci, start finance', `${ONE} [service stop ci] [service start finance]`],
  // What is prose stays prose.
  ['service stop ci for the night', 'service stop service=ci “for the night”'],
  ['service stop ci weekly cleanup', 'service stop service=ci “weekly cleanup”'],
  ['service stop ci "until end of month"', 'service stop service=ci “until end of month”'],
  [
    'service scale ci max=64 "max 63 was too little"',
    'service scale service=ci maxReplicaMemoryGb=64 “max 63 was too little”',
  ],
  ['service stop ci once more', 'service stop service=ci “once more”'],
  ['service stop ci at 404 errors', 'service stop service=ci “at 404 errors”'],
  [
    'service stop ci unused in the last 3 months',
    'service stop service=ci “unused in the last 3 months”',
  ],
  [
    'service scale ci max=64 replicas 30 were too many',
    'service scale service=ci maxReplicaMemoryGb=64 “replicas 30 were too many”',
  ],
])('%s', ([line, expected]) => {
  expect(answer(line)).toBe(expected);
});

test('a line with many sizes asks about the first six only', () => {
  const sizes = [8, 12, 16, 20, 24, 28, 32, 36].map((size) => `${size}gb`).join(' ');
  const read = parseLine('service', `create reports ${sizes}`, vocabulary);
  expect(read.kind === 'misread' && read.sentence.split('\n')).toHaveLength(6);
});
