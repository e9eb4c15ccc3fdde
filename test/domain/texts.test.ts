import { expect, test } from 'vitest';
import {
  countWords,
  oneLineOf,
  PostRefused,
  textAnswer,
  utcStamp,
} from '../../src/domain/answer.ts';
import { rolesIn } from '../../src/domain/approvals.ts';
import {
  type ChangeId,
  isLocal,
  isPrivate,
  nameWithin,
  type TargetKind,
} from '../../src/domain/change.ts';
import { lateAnswer } from '../../src/domain/change-events.ts';
import {
  FreezeUntilText,
  freezeList,
  freezeTarget,
  freezeWords,
  type Scope,
  scopeFrom,
  scopeKey,
  scopeOf,
  scopesOf,
  scopeText,
  scopeWords,
  selectorText,
  servicesIn,
  tagsOf,
} from '../../src/domain/freezes.ts';
import type { Freeze } from '../../src/domain/policy.ts';
import {
  occurrenceText,
  type ServiceSchedule,
  scheduleCommandLine,
  scheduleLineWords,
  scheduleOffers,
  scheduleWords,
  timesOf,
} from '../../src/domain/schedules.ts';
import {
  alreadyInState,
  findByName,
  menuReference,
  nameToType,
  newServiceTags,
  valueText,
} from '../../src/domain/targets.ts';
import { NO_TIMING, REVERT_SPAN, revertTimeOf } from '../../src/domain/timing.ts';
import { plainWords, staleText, wordOf } from '../../src/domain/words.ts';
import { service } from '../commands/fixtures.ts';
import { ana, minutes, NOON, PLAN, REQUIRES } from './changes-fixtures.ts';

const SEEN = { fields: { dataWarehouseId: 'W-1' }, seenAt: NOON, source: 'a reply' };
const A = service('a', { tags: ['prod'], warehouse: 'main', lastSeen: SEEN });
const B = service('b', { tags: ['eu', 'prod'], warehouse: 'main' });
const C = service('Every-name-that-is-so-long', { id: 'c12345678', tags: null, lastSeen: SEEN });
const ALL = [A, B, C];
const LAKE = service('Data lake', { id: '0a1b2c3d-x', aliases: ['Lake_2'] });
const ofKind = (kind: TargetKind) => ({ plan: { ...PLAN, target: { ...PLAN.target, kind } } });
const find = (text: string) => findByName([...ALL, LAKE], text).length;
const everything = { everything: true } as const;
const SCOPES: readonly Scope[] = [everything, { tag: 'eu' }, { warehouse: 'main' }, { service: C }];
const ofEach = (of: (scope: Scope) => unknown) => SCOPES.map((scope) => of(scope));
const LISTS = { services: null, tags: ['x', 'y'], warehouses: ['m', 'n'] };
const EU = { id: 'eu', name: 'eu', aliases: [] };
const FREEZE: Freeze = { from: NOON, until: minutes(9), on: null, reason: 'launch', by: 'Gus' };
const MADE = { ...FREEZE, made: { id: 'K' as ChangeId, by: ana.id } };
const ORPHAN = { ...FREEZE, by: null, made: { ...MADE.made, by: null } };
const LAST = { verb: 'stop', occurrence: NOON, change: null, skipped: 'frozen' };
const STOP = { action: 'stop', at: NOON } as const;
const SCHEDULE = {
  ...{ service: { id: 's1', name: 'dev' }, stop: 'daily 20:00', start: null, zone: 'UTC' },
  ...{ by: ana.id, change: 'K', until: minutes(9), isPaused: false, next: STOP, last: LAST },
} as Partial<ServiceSchedule> as ServiceSchedule;
const PAUSED = { ...SCHEDULE, start: '7', isPaused: true, last: null };
const UP = { ...SEEN, fields: { state: 'running' }, wasRead: true } as const;
const down = () => alreadyInState(A, { ...UP, fields: { state: 'stopped' } }, ['stopped']);
const until = (typed: string) => FreezeUntilText.safeParse(typed).data;
const ends = (time: string, start: Date | null = null, zone: string | null = 'UTC') => {
  const timing = { ...NO_TIMING, until: { day: null, time, offset: null } };
  return revertTimeOf(timing, start, { zone, now: NOON });
};
const late = (...reported: readonly string[]) => {
  const call = { nonce: 'n', answeredAt: NOON, tookMs: 1, requestId: null, reported };
  return lateAnswer('n', { type: 'succeeded', ...call, createdId: reported[0] })?.text;
};

/** The texts and values in it, in their order, with the sign between them. Of a time, its hour and minute. */
function shown(value: unknown, between = '|'): string {
  if (value instanceof Date) return value.toISOString().slice(11, 16);
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.from(Object.values(value), (one) => shown(one, between)).join(between);
}

/** The parts of a sentence, as people read it. */
const said = (parts: unknown) => shown(parts, '');

/** What people read, and what writes it. The line above says where they read it. */
test.for<[string, () => unknown]>([
  // A noun and a verb agree with their count.
  ['0 events|1 event|2 events', () => [0, 1, 2].map((count) => countWords(count, 'event'))],
  ['1 follows|2 follow', () => [1, 2].map((count) => countWords(count, 'follows', 'follow'))],
  // A time is in UTC, to the minute.
  ['2026-11-20 09:30 UTC', () => utcStamp(new Date('2026-11-20T09:30:59.999Z'))],
  // The card of a change that was not run says why.
  ['the target changed since the preview', () => staleText('target-changed')],
  ['other tags or another warehouse than in the preview', () => staleText('tags-changed')],
  ['its service could not be verified', () => staleText('not-verified')],
  ['the database was restored', () => staleText('restored')],
  ['its card was deleted', () => staleText('card-deleted')],
  ['the current policy refuses it', () => staleText('no-rule')],
  // The scope of a freeze, for everything, a tag, a warehouse and a service: stored, typed, and said.
  ['everything|tag:eu|warehouse:main|service:c12345678', () => ofEach(scopeKey)],
  ['everything|tag=eu|warehouse=main|c12345678', () => ofEach(scopeWords)],
  ['everything tagged eu|everything in warehouse main', () => ofEach(scopeText).slice(1, 3)],
  ['Every-name-that-is-so-long', () => scopeText({ service: C })],
  // How many services are in each scope; the tags and the warehouse that they have together.
  ['3|1|2|1', () => ofEach((one) => servicesIn(one, ALL).length)],
  ['null|eu|prod|prod|eu|null', () => ofEach((one) => freezeTarget(one, ALL).tags)],
  ['null|main|main|null', () => ofEach((one) => freezeTarget(one, ALL).warehouse)],
  // Services in two warehouses have none together; a tag that no service has stays.
  ['null', () => freezeTarget({ tag: 'prod' }, [A, { ...B, warehouse: 'other' }]).warehouse],
  ['null|eu|null|null', () => ofEach((one) => freezeTarget(one, []).tags)],
  // What a rule selects.
  ['a, b, tagged x or y, in warehouse m or n', () => selectorText({ ...LISTS, services: [A, B] })],
  ['Everything tagged x or y and in warehouse m or n', () => selectorText(LISTS)],
  // The form of a freeze offers scopes by their ids: everything, a tag, a warehouse and a service.
  ['everything|tag:prod|warehouse:main|id-of-a', () => scopesOf([A]).map(({ id }) => id)],
  ['everything|everything|all|true', () => scopesOf([A])[0]],
  ['tag:prod|everything tagged prod||prod', () => scopesOf([A])[1]],
  ['id-of-a|a||id-of-a|a', () => scopesOf([A])[3]],
  ['eu|eu||prod|prod|', () => tagsOf(ALL)],
  // Its answer is a tag or a warehouse; nothing or both is no scope. The scope of stored arguments.
  ['eu|eu|null', () => [{ tag: EU }, { warehouse: EU }, {}].map(scopeOf)],
  ['null', () => scopeOf({ tag: EU, warehouse: EU })],
  ['eu', () => scopeFrom({ scope: { tag: 'eu' } })],
  // A freeze of the file, and one that a person made, whose name may be unknown.
  ['Everything between 12:00 and 12:09: launch', () => said(freezeWords(FREEZE).slice(0, 6))],
  [', by Gus. Set in signalbox.yaml.', () => said(freezeWords(FREEZE).slice(6))],
  [', by U0ANA. “change unfreeze K” ends it.', () => said(freezeWords(MADE).slice(6))],
  [': launch. “change unfreeze K” ends it.', () => said(freezeWords(ORPHAN).slice(5))],
  // A list of freezes: its heading, and a row of each with its button. 20 fit, and none is no list.
  ['lines|Now', () => freezeList('Now', [FREEZE])[0]],
  [
    'rows|Everything: launch, by Gus|From |12:00| to |12:09|. Set in signalbox.yaml.|null',
    () => freezeList('Now', [FREEZE])[1],
  ],
  [
    'rows|Everything: launch|From |12:00| to |12:09|, by |U0ANA|. “change unfreeze K” ends it.|change show K',
    () => freezeList('Now', [MADE])[1],
  ],
  ['|2', () => [freezeList('Now', []), freezeList('Now', Array(20).fill(FREEZE)).length]],
  ['note|1 more not shown.', () => freezeList('Now', Array(21).fill(FREEZE))[2]],
  // A schedule, by itself and in a list, where it is paused.
  ['stop daily 20:00 (UTC) · next stop 12:00', () => said(scheduleWords(SCHEDULE).slice(0, 3))],
  [' · expires 12:09 · last one skipped: frozen', () => said(scheduleWords(SCHEDULE).slice(3))],
  ['dev · stop daily 20:00 · start 7 (UTC)', () => said(scheduleLineWords(PAUSED).slice(0, 3))],
  [' · paused · expires 12:09 · U0ANA · K', () => said(scheduleLineWords(PAUSED).slice(3))],
  // The line that requests it again.
  ['service schedule s1 stop="daily 20:00" start="7" zone=UTC', () => scheduleCommandLine(PAUSED)],
  ['service schedule s1 stop="daily 20:00" zone=UTC', () => scheduleCommandLine(SCHEDULE)],
  // Its buttons.
  ['Pause dev|service schedule pause s1', () => scheduleOffers(SCHEDULE)[0]],
  ['Resume dev|service schedule resume s1', () => scheduleOffers(PAUSED)[0]],
  ['Remove dev|service schedule remove s1', () => scheduleOffers(PAUSED)[1]],
  // One run of it, and its times in what was seen.
  ['stop of Fri 20 Nov, 12:00 (UTC)', () => occurrenceText(STOP, 'UTC')],
  ['x|null|UTC', () => timesOf({ fields: { stop: 'x', start: 1 } })],
  // Values of a server, alone and in a list.
  ['unknown|on|off|2', () => [null, true, false, { c: 2 }].map(valueText)],
  ['x, 1 unknown', () => valueText(['x', { a: 1, b: null }])],
  ['null, y, 1', () => valueText([null, ['y'], 1])],
  // A menu and a line have the id of a service where its name is too long, or another one has it.
  ['a|b|c1234567', () => ALL.map((one) => menuReference(one, ALL))],
  ['id-of-a', () => nameToType(A, [A, { ...A, id: 'other' }])],
  // A new service has the tags of its warehouse: unknown without one, by name or id, and of one only.
  ['|null|null|null', () => [undefined, 'x'].map((one) => newServiceTags(one, ALL))],
  ['prod|eu|main|prod|main', () => ['MAIN', 'w-1'].map((one) => newServiceTags(one, ALL))],
  ['null|null', () => newServiceTags('w-1', [A, { ...A, warehouse: 'other' }])],
  // What has the state already is not requested, and the other change is offered.
  ['a is already stopped (checked just now), so nothing was requested.', () => down()?.sentence],
  ['Start it…|service start id-of-a|Show it|service show id-of-a', () => down()?.offers],
  ['Stop it…|service stop id-of-a', () => alreadyInState(A, UP, ['running'])?.offers[0]],
  ['null|null', () => [UP, null].map((before) => alreadyInState(A, before, ['stopped']))],
  // When a change is reverted: how long it lasts, and its end.
  ['true|1800000|2026-11-20T12:30:00.000Z', () => ends('12:30')],
  ['true|3600000|2026-11-20T14:00:00.000Z', () => ends('14:00', minutes(60))],
  ['true|null|null', () => revertTimeOf(NO_TIMING, null, { zone: null, now: NOON })],
  // It is refused as too soon, and without the zone of the person.
  ['false|until|must be from 30m to 14d after the start of the change', () => ends('12:29')],
  ['false|until|must be a time after the start of the change', () => ends('12:30', null, null)],
  ['1800000', () => REVERT_SPAN.parse(' 30m ')],
  // A freeze lasts a span of at most 90 days, or until a time of the day.
  ['14400000|7776000000|undefined', () => [' 4h', '90d', '91d'].map(until)],
  ['null|20:00|null|undefined|undefined', () => [' 20:00 ', '24:00', 'x 4h'].map(until)],
  // Who may decide.
  ['operator|approver|lead', () => rolesIn({ ...REQUIRES, breakGlass: 'lead' })],
  // An answer that came late, to events that sent something and to one that did not.
  ['x, y, id x|no details', () => [late('x', 'y'), late()]],
  ['null', () => lateAnswer('n', { type: 'expired' })],
  // A change is private until it is confirmed; one of a freeze stays in Signalbox.
  ['true|false', () => [null, NOON].map((confirmedAt) => isPrivate({ confirmedAt }))],
  ['true|false', () => [isLocal(ofKind('freeze')), isLocal(ofKind('alert'))]],
  // A name is shorter beside its own organization.
  ['a|x/a', () => ['eu/a', 'x/a'].map((name) => nameWithin({ organization: EU }, name))],
  // A service is found by its name or alias as people write it, and by its id from the beginning.
  ['1|1|1|1', () => ['data-lake', 'DATA  LAKE', 'lake 2', '0A1b2c3d-x'].map(find)],
  ['1|0|0', () => ['0a1b2c3d', 'data', 'a1b2c3d-x'].map(find)],
  ['1', () => findByName([LAKE, { ...LAKE, id: 'z', name: 'data-lake' }], 'data lake').length],
  // A message that Slack refused.
  ['why|null|false', () => ({ ...new PostRefused('why', null, 0) })],
  ['Slack refused a message: why', () => new PostRefused('why', null, 0).message],
  // An answer of one sentence, without and with a button.
  ['text|x', () => textAnswer('t', 'x').parts],
  ['text|x|offers|Show|line', () => textAnswer('t', 'x', [{ label: 'Show', line: 'line' }]).parts],
  // Constants and fields of a server become words; what is a name stays.
  ['flapping|ab1|ab c d2|abc def gh', () => 'FLAPPING AB1 ab_c_d2 AbcDefGh'.split(' ').map(wordOf)],
  ['ab|A|Ab|a-b|A-B|aB-', () => 'ab A Ab a-b A-B aB-'.split(' ').map(wordOf)],
  ['group by|a 1b c|up', () => ['groupBy', 'a__1bC', '_UP_'].map(plainWords)],
  // A text on one line is cut.
  ['a b|ab…', () => [oneLineOf(' a \n b', 3), oneLineOf('abcd', 3)]],
])('%s', ([expected, found]) => {
  expect(shown(found())).toBe(expected);
});
