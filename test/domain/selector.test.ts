import { expect, test } from 'vitest';
import { type ConfigProblem, parseConfig } from '../../src/base/problem.ts';
import { costSelectorSchema, policyShape } from '../../src/domain/policy-schema.ts';
import { PROD_ID, words } from './policy-fixtures.ts';

const costs = costSelectorSchema({ ...words, teams: ['checkout', 'search'] });

const NOTHING = { services: null, tags: null, warehouses: null, teams: null };

test.for<[object, object]>([
  [{ services: ['analytics-prod'] }, { services: [{ name: 'analytics-prod', id: PROD_ID }] }],
  [{ tags: ['prod', 'eu'] }, { tags: ['prod', 'eu'] }],
  [{ warehouses: ['main'] }, { warehouses: ['main'] }],
  [{ teams: ['search'] }, { teams: ['search'] }],
  [
    { tags: ['prod'], teams: ['checkout', 'search'] },
    { tags: ['prod'], teams: ['checkout', 'search'] },
  ],
])('the costs of %j can be selected', ([on, selected]) => {
  expect(parseConfig(costs, on)).toEqual({ ok: true, value: { ...NOTHING, ...selected } });
});

test.for<[string, object, ConfigProblem]>([
  [
    'is empty',
    {},
    {
      where: '',
      problem: 'selects nothing',
      hint: 'set services, tags, warehouses or teams, or remove it',
    },
  ],
  [
    'has a team that nothing declares',
    { teams: ['serch'] },
    { where: 'teams[0]', problem: 'names no team: “serch”', hint: 'did you mean “search”?' },
  ],
  [
    'has a tag that only the server assigns',
    { tags: ['env=staging'] },
    {
      where: 'tags[0]',
      problem: 'names no tag of a service: “env=staging”',
      hint: 'known: prod, eu',
    },
  ],
  [
    'has an empty list',
    { teams: [] },
    { where: 'teams', problem: 'must not be empty', hint: null },
  ],
])('a selection of costs is refused when it %s', ([, on, problem]) => {
  expect(parseConfig(costs, on)).toEqual({ ok: false, problems: [problem] });
});

test('without tags of the server, targets are selected by tags of the file only', () => {
  const { serverTags: _, ...local } = words;
  const rule = { commands: ['service stop'], on: { tags: ['env=staging'] }, reason: 'no' };
  expect(parseConfig(policyShape(local).never, [rule])).toEqual({
    ok: false,
    problems: [
      {
        where: '[0].on.tags[0]',
        problem: 'names no tag of a service: “env=staging”',
        hint: 'known: prod, eu; declare a tag of the server in cloud.tags',
      },
    ],
  });
});
