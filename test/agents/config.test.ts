import { expect, test } from 'vitest';
import { agentsSchema } from '../../src/agents/config.ts';
import { parseConfig } from '../../src/base/problem.ts';
import { AGENTS, agentsConfig, GITHUB } from './issuer.ts';

type Content = Readonly<Record<string, unknown>>;
const [slackbot, ci, assistant] = AGENTS.allow;
const read = (content: unknown) => parseConfig(agentsSchema(['operator', 'viewer']), content);
const lines = (content: unknown) => {
  const found = read(content);
  return found.ok ? [] : found.problems.map(({ where, problem }) => `${where} ${problem}`);
};
const withAgents = (...allow: readonly unknown[]) => ({ ...AGENTS, allow });
const by = (agent: { readonly by: unknown } | undefined, changed: Content) => ({
  ...agent,
  by: { ...(agent?.by as Content), ...changed },
});

test('the agents of the example are read, with the usual limits and the keys of GitHub', () => {
  const { allow, origins } = agentsConfig();
  expect(origins).toEqual([]);
  expect(allow[0]?.by).toBeNull();
  expect(allow[0]?.limits).toEqual({ open: 3, perDay: 20, callsPerMinute: 60 });
  expect(allow[1]).toMatchObject({ roles: ['operator'], by: { events: ['push', 'schedule'] } });
  expect(allow[2]).toMatchObject({ roles: [], by: { person: 'slack_user_id' } });
});

test('without events, GitHub may call by those that no fork can cause', () => {
  const { allow } = agentsConfig(withAgents(by(ci, { events: undefined })));
  const events = ['push', 'schedule', 'workflow_dispatch', 'release'];
  expect(allow[0]).toMatchObject({ by: { events } });
});

const LONG = Array.from({ length: 16 }, () => 'service list');

test.for<readonly [string, unknown, readonly string[]]>([
  [
    'an address without https',
    { ...AGENTS, url: 'http://signalbox.example.com/mcp' },
    ['url must be an https address without user, query and fragment'],
  ],
  [
    'an address with a query',
    { ...AGENTS, url: 'https://signalbox.example.com/mcp?x=1' },
    ['url must be an https address without user, query and fragment'],
  ],
  ['an unknown key', { ...AGENTS, tokens: [] }, ['tokens is not a known key']],
  ['no agent', withAgents(), ['allow must not be empty']],
  ['nobody', withAgents({ ...ci, for: undefined }), ['allow[0].for must be people or itself']],
  ['an empty credential', withAgents({ ...slackbot, by: null }), ['allow[0].by is missing']],
  [
    'two agents by slack',
    withAgents(slackbot, { ...slackbot, name: 'other' }),
    ['allow[1].by repeats “slack”'],
  ],
  ['a name twice', withAgents(ci, ci), ['allow[1].name repeats “ci”']],
  ['itself without roles', withAgents({ ...ci, roles: [] }), ['allow[0].roles must not be empty']],
  [
    'itself with an unknown role',
    withAgents({ ...ci, roles: ['admin'] }),
    ['allow[0].roles[0] names no role: “admin”'],
  ],
  [
    'itself without claims',
    withAgents(by(ci, { issuer: 'https://issuer.example.com', claims: {}, events: undefined })),
    ['allow[0].by.claims must not be empty'],
  ],
  [
    'itself by slack',
    withAgents({ ...ci, by: 'slack' }),
    ['allow[0].by must be a set of keys, not text'],
  ],
  [
    'itself with a person',
    withAgents(by(ci, { person: 'sub' })),
    ['allow[0].by.person is not a known key'],
  ],
  [
    'itself with a command whose password nobody could read',
    withAgents({ ...ci, tools: ['service create'] }),
    ['allow[0].tools[0] names no command of programs for themselves: “service create”'],
  ],
  [
    'people with roles',
    withAgents({ ...slackbot, roles: ['operator'] }),
    ['allow[0].roles cannot be used with for: people'],
  ],
  [
    'people without a person',
    withAgents(by(assistant, { person: undefined })),
    ['allow[0].by.person is missing'],
  ],
  [
    'slack with a claim',
    withAgents(by(assistant, { slack: true })),
    ['allow[0].by.slack is not a known key'],
  ],
  [
    'no credential',
    withAgents({ ...assistant, by: { person: 'sub' } }),
    ['allow[0].by.issuer is missing'],
  ],
  [
    'sixteen commands',
    withAgents({ ...slackbot, tools: LONG }),
    ['allow[0].tools must be at most 15 commands'],
  ],
  [
    'an unknown command',
    withAgents({ ...slackbot, tools: ['service stopp'] }),
    ['allow[0].tools[0] names no command of programs: “service stopp”'],
  ],
  [
    'a command for people',
    withAgents({ ...slackbot, tools: ['change unfreeze'] }),
    ['allow[0].tools[0] names no command of programs: “change unfreeze”'],
  ],
  [
    'events of another issuer',
    withAgents(by(ci, { issuer: 'https://issuer.example.com' })),
    [`allow[0].by.events can be used with ${GITHUB} only`],
  ],
  [
    'an event that a fork can cause',
    withAgents(by(ci, { events: ['pull_request_target'] })),
    ['allow[0].by.events[0] cannot be “pull_request_target”'],
  ],
  [
    'names in place of numbers',
    withAgents(by(ci, { claims: { repository_id: 'deploy', ref: 'refs/heads/main' } })),
    [
      'allow[0].by.claims.repository_id must be a number in quotes',
      'allow[0].by.claims.repository_owner_id must be a number in quotes',
    ],
  ],
  [
    'no branch',
    withAgents(by(ci, { claims: { repository_id: '7', repository_owner_id: '9' } })),
    ['allow[0].by.claims must have one of: ref, environment, job_workflow_ref'],
  ],
])('the start is refused: %s', ([, content, expected]) => {
  expect(lines(content)).toEqual(expected);
});

test('all problems are named at once', () => {
  const content = { ...AGENTS, url: 'x', allow: [{ ...ci, name: 'CI', tools: [] }] };
  expect(lines(content)).toHaveLength(3);
});
