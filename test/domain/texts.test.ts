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
const each = (of: (scope: Scope) => unknown) => SCOPES.map((scope) => of(scope));
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
  const end = { day: null, time, offset: null };
  return revertTimeOf({ ...NO_TIMING, until: end }, start, { zone, now: NOON });
};
const late = (...reported: readonly string[]) => {
  const call = { nonce: 'n', answeredAt: NOON, tookMs: 1, requestId: null, reported };
  return lateAnswer('n', { type: 'succeeded', ...call, createdId: reported[0] })?.text;
};

/** The texts and values in it, in their order. */
function shown(value: unknown): string {
  if (value instanceof Date) return value.toISOString().slice(11, 16);
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.values(value).map(shown).join('_');
}

test.for<[string, () => unknown]>([
  ['0 events_1 event_2 events', () => [0, 1, 2].map((count) => countWords(count, 'event'))],
  ['1 follows_2 follow', () => [1, 2].map((count) => countWords(count, 'follows', 'follow'))],
  ['2026-11-20 09:30 UTC', () => utcStamp(new Date('2026-11-20T09:30:59.999Z'))],
  ['the target changed since the preview', () => staleText('target-changed')],
  ['other tags or another warehouse than in the preview', () => staleText('tags-changed')],
  ['its service could not be verified', () => staleText('not-verified')],
  ['the database was restored', () => staleText('restored')],
  ['its card was deleted', () => staleText('card-deleted')],
  ['the current policy refuses it', () => staleText('no-rule')],
  ['everything_tag:eu_warehouse:main_service:c12345678', () => each((one) => scopeKey(one))],
  ['everything_tag=eu_warehouse=main_c12345678', () => each(scopeWords)],
  ['everything tagged eu_everything in warehouse main', () => each(scopeText).slice(1, 3)],
  ['3_1_2_1', () => each((one) => servicesIn(one, ALL).length)],
  ['null_eu_prod_prod_eu_null', () => each((one) => freezeTarget(one, ALL).tags)],
  ['null_main_main_null', () => each((one) => freezeTarget(one, ALL).warehouse)],
  ['null_eu_null_null', () => each((one) => freezeTarget(one, []).tags)],
  ['a, b, tagged x or y, in warehouse m or n', () => selectorText({ ...LISTS, services: [A, B] })],
  ['Everything tagged x or y and in warehouse m or n', () => selectorText(LISTS)],
  ['everything_tag:prod_warehouse:main_id-of-a', () => scopesOf([A]).map(({ id }) => id)],
  ['eu_eu_null', () => [scopeOf({ tag: EU }), scopeOf({ warehouse: EU }), scopeOf({})]],
  ['null', () => scopeOf({ tag: EU, warehouse: EU })],
  ['Everything_ between _12:00_ and _12:09_: launch', () => freezeWords(FREEZE).slice(0, 6)],
  [', by Gus_. Set in signalbox.yaml.', () => freezeWords(FREEZE).slice(6)],
  [', by _U0ANA_. “change unfreeze K” ends it.', () => freezeWords(MADE).slice(6)],
  [': launch_. “change unfreeze K” ends it.', () => freezeWords(ORPHAN).slice(5)],
  ['lines_Now', () => freezeList('Now', [FREEZE])[0]],
  [
    'rows_Everything: launch, by Gus_From _12:00_ to _12:09_. Set in signalbox.yaml._null',
    () => freezeList('Now', [FREEZE]).slice(1),
  ],
  [
    'rows_Everything: launch_From _12:00_ to _12:09_, by _U0ANA_. “change unfreeze K” ends it._change show K',
    () => freezeList('Now', [MADE]).slice(1),
  ],
  ['_2', () => [freezeList('Now', []), freezeList('Now', Array(20).fill(FREEZE)).length]],
  ['note_1 more not shown.', () => freezeList('Now', Array(21).fill(FREEZE))[2]],
  ['stop daily 20:00 (UTC)_ · next stop _12:00', () => scheduleWords(SCHEDULE).slice(0, 3)],
  [' · expires _12:09_ · last one skipped: frozen', () => scheduleWords(SCHEDULE).slice(3)],
  ['dev_ · _stop daily 20:00 · start 7 (UTC)', () => scheduleLineWords(PAUSED).slice(0, 3)],
  [' · paused_ · expires _12:09__ · _U0ANA_ · K', () => scheduleLineWords(PAUSED).slice(3)],
  ['service schedule s1 stop="daily 20:00" start="7" zone=UTC', () => scheduleCommandLine(PAUSED)],
  ['service schedule s1 stop="daily 20:00" zone=UTC', () => scheduleCommandLine(SCHEDULE)],
  ['Pause dev_service schedule pause s1', () => scheduleOffers(SCHEDULE)[0]],
  ['Resume dev_service schedule resume s1', () => scheduleOffers(PAUSED)[0]],
  ['Remove dev_service schedule remove s1', () => scheduleOffers(PAUSED)[1]],
  ['stop of Fri 20 Nov, 12:00 (UTC)', () => occurrenceText(STOP, 'UTC')],
  ['x_null_UTC', () => timesOf({ fields: { stop: 'x', start: 1 } })],
  ['unknown_on_off_2', () => [null, true, false, { c: 2 }].map(valueText)],
  ['x, 1 unknown', () => valueText(['x', { a: 1, b: null }])],
  ['null, y, 1', () => valueText([null, ['y'], 1])],
  ['a_b_c1234567', () => ALL.map((one) => menuReference(one, ALL))],
  ['id-of-a', () => nameToType(A, [A, { ...A, id: 'other' }])],
  ['_null_null_null', () => [undefined, 'x'].map((one) => newServiceTags(one, ALL))],
  ['prod_eu_main_prod_main', () => ['MAIN', 'w-1'].map((one) => newServiceTags(one, ALL))],
  ['a is already stopped (checked just now), so nothing was requested.', () => down()?.sentence],
  ['Start it…_service start id-of-a', () => down()?.offers[0]],
  ['Show it_service show id-of-a', () => down()?.offers[1]],
  ['Stop it…_service stop id-of-a', () => alreadyInState(A, UP, ['running'])?.offers[0]],
  ['null_null', () => [UP, null].map((before) => alreadyInState(A, before, ['stopped']))],
  ['true_1800000_2026-11-20T12:30:00.000Z', () => ends('12:30')],
  ['true_3600000_2026-11-20T14:00:00.000Z', () => ends('14:00', minutes(60))],
  ['false_until_must be from 30m to 14d after the start of the change', () => ends('12:29')],
  ['operator_approver_lead', () => rolesIn({ ...REQUIRES, breakGlass: 'lead' })],
  ['x, y, id x_no details', () => [late('x', 'y'), late()]],
  ['true_false', () => [null, NOON].map((confirmedAt) => isPrivate({ confirmedAt }))],
  ['a_x/a', () => ['eu/a', 'x/a'].map((name) => nameWithin({ organization: EU }, name))],
  ['true_false', () => [isLocal(ofKind('freeze')), isLocal(ofKind('alert'))]],
  ['null', () => freezeTarget({ tag: 'prod' }, [A, { ...B, warehouse: 'other' }]).warehouse],
  ['true_null_null', () => revertTimeOf(NO_TIMING, null, { zone: null, now: NOON })],
  ['1', () => findByName([LAKE, { ...LAKE, id: 'z', name: 'data-lake' }], 'data lake').length],
  ['why_null_false', () => ({ ...new PostRefused('why', null, 0) })],
  ['Slack refused a message: why', () => new PostRefused('why', null, 0).message],
  ['text_x', () => textAnswer('t', 'x').parts],
  ['text_x_offers_Show_line', () => textAnswer('t', 'x', [{ label: 'Show', line: 'line' }]).parts],
  ['flapping_ab1_ab c d2_abc def gh', () => 'FLAPPING AB1 ab_c_d2 AbcDefGh'.split(' ').map(wordOf)],
  ['ab_A_Ab_a-b_A-B_aB-', () => 'ab A Ab a-b A-B aB-'.split(' ').map(wordOf)],
  ['group by_a 1b c_up', () => ['groupBy', 'a__1bC', '_UP_'].map(plainWords)],
  ['1_1_1_1', () => ['data-lake', 'DATA  LAKE', 'lake 2', '0A1b2c3d-x'].map(find)],
  ['1_0_0', () => ['0a1b2c3d', 'data', 'a1b2c3d-x'].map(find)],
  ['Every-name-that-is-so-long', () => scopeText({ service: C })],
  ['everything_everything_all_true', () => scopesOf([A])[0]],
  ['tag:prod_everything tagged prod__prod', () => scopesOf([A])[1]],
  ['id-of-a_a__id-of-a_a', () => scopesOf([A])[3]],
  ['eu_eu__prod_prod_', () => tagsOf(ALL)],
  ['null_null', () => newServiceTags('w-1', [A, { ...A, warehouse: 'other' }])],
  ['eu', () => scopeFrom({ scope: { tag: 'eu' } })],
  ['14400000_7776000000_undefined', () => [' 4h', '90d', '91d'].map(until)],
  ['null_20:00_null_undefined_undefined', () => [' 20:00 ', '24:00', 'x 4h'].map(until)],
  ['1800000', () => REVERT_SPAN.parse(' 30m ')],
  ['false_until_must be a time after the start of the change', () => ends('12:30', null, null)],
  ['null', () => lateAnswer('n', { type: 'expired' })],
  ['a b_ab…', () => [oneLineOf(' a \n b', 3), oneLineOf('abcd', 3)]],
])('“%s”', ([expected, found]) => {
  expect(shown(found())).toBe(expected);
});
