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

const REPEATS =
  'A stop or start that repeats is /service schedule. [Without it] [It is only the reason]';
const WAYS = 'Write a start as at=20:00 or in=2h, and an end as for=4h or until=18:00.';
const NOTHING =
  'Nothing was requested. Type what you want, for example “stop staging”, “is staging running?” or “cost yesterday”.';
const EACH = 'One change has one service, so each is requested on its own:';
const OWN_ZONE = '[in your time zone, Europe/Berlin] [It is only the reason]';
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
  [
    'service stop ci at 20:00 (New_York)',
    `“(New_York)” can be the time zone America/New_York. [in America/New_York] ${OWN_ZONE}`,
  ],
  [
    'service stop ci at 20:00 New York',
    `“New York” can be the time zone America/New_York. [in America/New_York] ${OWN_ZONE}`,
  ],
  ['service stop ci at 20:00 New York time', 'service stop service=ci at=2026-11-30T01:00Z'],
  ['service stop ci at noon UTC', 'service stop service=ci at=2026-11-29T12:00Z'],
  [
    'service stop ci at 8 London',
    'Morning or evening?\n“London” can be the time zone Europe/London. [Mon 30 Nov 08:00 · in your time zone, Europe/Berlin] [today 20:00 · in your time zone, Europe/Berlin] [Mon 30 Nov 08:00 Europe/London] [today 20:00 Europe/London] [It is only the reason]',
  ],
  [
    'service stop ci until 22:00 in Tokyo',
    `“in Tokyo” can be the time zone Asia/Tokyo. [in Asia/Tokyo] ${OWN_ZONE}`,
  ],
  ['change freeze prod until 20:00 ET', `“ET” is not the name of one time zone. ${OWN_ZONE}`],
  ['service stop ci 8pm Phoenix import', 'service stop service=ci at=20:00 “Phoenix import”'],
  ['service stop ci 8pm London time for 2h', 'service stop service=ci at=2026-11-29T20:00Z for=2h'],
  ['service stop ci at 20:00 Berlin release', 'service stop service=ci at=20:00 “Berlin release”'],
  ['service stop ci at=9:00 UTC-8', 'service stop service=ci at=2026-11-29T17:00Z'],
  [
    'service stop ci from 20:00 to 22:00 UTC',
    'service stop service=ci at=2026-11-29T20:00Z until=2026-11-29T22:00Z',
  ],
  ['service stop ci at 20:00 UTC+25', `“UTC+25” is not the name of one time zone. ${OWN_ZONE}`],
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
    'service stop ci 8-10 EST',
    '“8-10” names no single moment.\n“EST” is not the name of one time zone. [Mon 30 Nov 08:00 until 10:00 · in your time zone, Europe/Berlin] [today 20:00 until 22:00 · in your time zone, Europe/Berlin] [It is only the reason]',
  ],
  [
    'cost digest weekly at 9:00',
    'Add a digest for “weekly at 9:00”? When is it posted? [add at=09:00 every=week]',
  ],
  [
    'service stop ci at 20:00 (Christmas)',
    `“(Christmas)” can be the time zone Indian/Christmas. [in Indian/Christmas] ${OWN_ZONE}`,
  ],
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
    'service scale service=ci What should change? “one more replica” is no value.',
  ],
  ['alert edit 5xx rate every 10 minutes', 'alert edit alert=5xx rate interval=10m'],
  [
    'alert edit 5xx rate interval 10',
    'interval must be a number and a unit, for example 5m, 15m or 1h (you typed 10)',
  ],
  ['alert edit 5xx rate message "too many"', 'alert edit alert=5xx rate message=too many'],
  [
    'alert edit 5xx rate raise threshold by 50',
    'alert edit alert=5xx rate What should change? “raise threshold by 50” is no value.',
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
  // The day behind a window can be that of both times.
  [
    'service stop ci from 20:00 to 22:00 tomorrow',
    '“from 20:00 to 22:00 tomorrow” names no single moment. [Mon 30 Nov 20:00 until 22:00] [20:00 until Mon 30 Nov 22:00] [It is only the reason]',
  ],
  [
    'service stop ci from 8am to 10am tomorrow',
    'service stop service=ci at=2026-11-30T08:00 until=2026-11-30T10:00',
  ],
  ['service stop ci tonight 9:30', 'service stop service=ci at=2026-11-29T21:30'],
  [
    'service stop ci tonight 12:30',
    '“tonight” names no single moment.\n“at=” is given twice: 12:30. [today 20:00] [today 22:00] [at=12:30]',
  ],
  [
    'service stop ci at 20:00 and 22:00',
    '“at=” is given twice: 20:00 and 22:00. [at=20:00] [at=22:00]',
  ],
  ['service stop ci 20:00, 20:00', 'service stop service=ci at=20:00'],
  ['service stop ci at 20:00 UTC tomorrow', 'service stop service=ci at=2026-11-30T20:00Z'],
  ['service stop ci at 20:00 my time', 'service stop service=ci at=20:00'],
  ['service stop ci 20:00 UTC until 22:00 Tokyo time', 'Which zone: UTC or “Tokyo time”?'],
  [
    'service stop ci friday evening until monday morning',
    '“friday evening until monday morning” names no single moment. [Fri 4 Dec 18:00 until Mon 7 Dec 08:00] [It is only the reason]',
  ],
  // What repeats, and what is a condition.
  ['service stop ci weekdays 20:00', `“weekdays 20:00” could be a time. ${WAYS} ${REPEATS}`],
  ['service stop ci at 20:00 every night', `“every night” could be a time. ${WAYS} ${REPEATS}`],
  [
    'service stop ci only if idle',
    '“only if idle” could be a condition, and Signalbox checks none. [Without it] [It is only the reason]',
  ],
  [
    'service stop ci at 20:00 for tests only if idle',
    '“only if idle” could be a condition, and Signalbox checks none. [It is only the reason]',
  ],
  ['service stop ci, thanks!', 'service stop service=ci'],
  [
    'service stop ci because they said thanks',
    'service stop service=ci “because they said thanks”',
  ],
  ['service stop ci customer said thanks', 'service stop service=ci “customer said thanks”'],
  [
    'service stop ci at 22:00 because it crashed at 20:00 UTC',
    'service stop service=ci at=22:00 “because it crashed at 20:00 UTC”',
  ],
  [
    'service stop ci only if ok',
    '“only if ok” could be a condition, and Signalbox checks none. [Without it] [It is only the reason]',
  ],
  ['service stop ci 20:00Z tomorrow', 'service stop service=ci at=2026-11-30T20:00Z'],
  ['service stop ci at 20:00 -1 reviewer', 'service stop service=ci at=20:00 “-1 reviewer”'],
  ['service schedule ci off nightly 20:00', 'service schedule service=ci stop=daily 20:00'],
  [
    'change freeze prod black friday until dec 1 8:00',
    '“until dec 1 8:00” can be a value or a part of the reason. [until dec 1 8:00] [It is only the reason]',
  ],
  ['service stop ci at 20:00 US/Eastern', 'service stop service=ci at=2026-11-30T01:00Z'],
  [
    'change freeze prod until 20:00 and 22:00 launch',
    '“until=” is given twice: 2026-11-29T20:00 and 22:00. [until=2026-11-29T20:00] [until=22:00]',
  ],
  [
    'service scale ci max=64 if needed',
    'service scale service=ci maxReplicaMemoryGb=64 “if needed”',
  ],
  // What is left out, wherever it stands.
  ['service stop dev at 20:00 except ci', `${EACH} staging. [staging]`],
  ['service stop all in 2 hours, not prod', `${EACH} staging, ci. [staging] [ci]`],
  [
    'service stop ci, stagin',
    '“stagin” names no service, tag or warehouse. [It is only the reason]',
  ],
  // A reason, or a target, is not what its first word can mean elsewhere.
  ['service stop ci, all tests are done', 'service stop service=ci “all tests are done”'],
  ['service stop ci and dev is fine', 'service stop service=ci “and dev is fine”'],
  ['cost 1 nov', 'cost words=2026-11-01'],
  ['service stop ci, prod', `${EACH} ci, analytics-prod, finance. [ci] [analytics-prod] [finance]`],
  ['service stop all but finance, analytics-prod', `${EACH} staging, ci. [staging] [ci]`],
  ['service stop ci, not staging', 'service stop service=ci “not staging”'],
  ['service stop ci to start staging', 'service stop service=ci “to start staging”'],
  ['service scale ci max=64, launch', 'service scale service=ci maxReplicaMemoryGb=64 “launch”'],
  ['service scale ci at 20:00 for launch', 'service scale service=ci at=20:00 “for launch”'],
  ['service stop ci 8pm and report 22:00', 'service stop service=ci at=20:00 “and report 22:00”'],
  ['service stop ci / staging', `${EACH} ci, staging. [ci] [staging]`],
  // Several changes, each with its own values.
  ['service turn ci on and staging off', `${ONE} [service start ci] [service stop staging]`],
  ['service turn ci on and off staging', `${ONE} [service start ci] [service stop staging]`],
  [
    'service scale ci max=64 and staging max=32',
    `${ONE} [service scale ci max=64] [service scale staging max=32]`,
  ],
  [
    'service scale ci to 64 and staging to 32',
    `${ONE} [service scale ci to 64 · max=64] [service scale ci to 64 · min=64 max=64] [service scale staging to 32 · max=32] [service scale staging to 32 · min=32 max=32]`,
  ],
  [
    'service stop ci at 20:00 and staging at 22:00',
    `${ONE} [service stop ci at 20:00] [service stop staging at 22:00]`,
  ],
  [
    'service stop ci, staging, finance 8pm',
    `${EACH} ci, staging, finance. [ci] [staging] [finance]`,
  ],
  [
    'service stop ci until 22:00 then start staging',
    `${ONE} [service stop ci until 22:00] [service start staging]`,
  ],
  ['service stop ci stop staging', `${ONE} [service stop ci] [service stop staging]`],
  [
    'service stop ci and delete staging',
    `${ONE} [service stop ci] [service delete staging · service stop staging] [service delete staging · service show staging]`,
  ],
  // A change of values, of which the line has none.
  [
    'service scale ci by 2 replicas',
    'service scale service=ci What should change? “by 2 replicas” is no value.',
  ],
  [
    'service scale ci bigger "launch"',
    'service scale service=ci “launch” What should change? “bigger” is no value.',
  ],
  // What people say to the bot.
  [
    'signalbox turn ci off at night',
    '“night” names no single moment. [today 20:00] [today 22:00] [It is only the reason]',
  ],
  ['signalbox shut all dev services down', `${EACH} staging, ci. [staging] [ci]`],
  ['signalbox 5xx rate', 'alert show alert=5xx rate'],
  ['signalbox 7KQ2MX', 'change show id=7KQ2MX'],
  ['signalbox how much is ci', 'cost words=ci'],
  ['signalbox 👍', `${NOTHING} [signalbox help] [service list] [change list]`],
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
