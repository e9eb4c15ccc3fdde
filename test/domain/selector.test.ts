import { expect, test } from 'vitest';
import { parseConfig } from '../../src/base/problem.ts';
import { costSelectorSchema, policyShape } from '../../src/domain/policy-schema.ts';
import { PROD_ID, words } from './policy-fixtures.ts';

const costs = costSelectorSchema({ ...words, teams: ['checkout', 'search'] });

const NEAR = 'did you mean “search”?';
const OF_SERVER = { tags: ['env=staging'] };
const NO_TAG = 'names no tag of a service: “env=staging”';
const NOTHING = { services: null, tags: null, warehouses: null, teams: null };

const BOTH = { tags: ['prod'], teams: ['checkout', 'search'] };

test.for<[object, object]>([
  [{ services: ['analytics-prod'] }, { services: [{ name: 'analytics-prod', id: PROD_ID }] }],
  [{ tags: ['prod', 'eu'] }, { tags: ['prod', 'eu'] }],
  [{ warehouses: ['main'] }, { warehouses: ['main'] }],
  [{ teams: ['search'] }, { teams: ['search'] }],
  [BOTH, BOTH],
])('the costs of %j can be selected', ([on, selected]) => {
  expect(parseConfig(costs, on)).toEqual({ ok: true, value: { ...NOTHING, ...selected } });
});

test.for<[string, object, string, string, string | null]>([
  ['is empty', {}, '', 'selects nothing', 'set services, tags, warehouses or teams, or remove it'],
  ['has no such team', { teams: ['serch'] }, 'teams[0]', 'names no team: “serch”', NEAR],
  ['has a tag of the server', OF_SERVER, 'tags[0]', NO_TAG, 'known: prod, eu'],
  ['has an empty list', { teams: [] }, 'teams', 'must not be empty', null],
])('a selection of costs is refused when it %s', ([, on, where, problem, hint]) => {
  expect(parseConfig(costs, on)).toEqual({ ok: false, problems: [{ where, problem, hint }] });
});

test('a rule names an organization, which counts where there are several', () => {
  const selected = (...all: readonly string[]) => {
    const organizations = new Map(all.map((name) => [name, `id-of-${name}`]));
    const rule = { commands: ['service stop'], on: { organizations: ['eu'] }, reason: 'no' };
    const read = parseConfig(policyShape({ ...words, organizations }).never, [rule]);
    return read.ok && read.value[0]?.on?.organizations;
  };
  expect(selected('eu', 'us')).toEqual([{ name: 'eu', id: 'id-of-eu' }]);
  expect(selected('eu')).toBeUndefined();
});

test('without tags of the server, targets are selected by tags of the file only', () => {
  const { serverTags: _, ...local } = words;
  const rule = { commands: ['service stop'], on: OF_SERVER, reason: 'no' };
  const hint = 'known: prod, eu; declare a tag of the server in cloud.tags';
  const problems = [{ where: '[0].on.tags[0]', problem: NO_TAG, hint }];
  expect(parseConfig(policyShape(local).never, [rule])).toEqual({ ok: false, problems });
});
