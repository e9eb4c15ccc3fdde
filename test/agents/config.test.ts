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

const NO_ADDRESS = 'url must be an https address without user, query and fragment';
const ELSEWHERE = 'https://issuer.example.com';
const NO_CLAIMS = { issuer: ELSEWHERE, claims: {}, events: undefined };
const NO_BRANCH = { claims: { repository_id: '7', repository_owner_id: '9' } };
const tools = (...names: readonly string[]) => withAgents({ ...slackbot, tools: names });
const forItself = (changed: Content) => withAgents({ ...ci, ...changed });
const byCi = (changed: Content) => withAgents(by(ci, changed));
const byAssistant = (changed: Content) => withAgents(by(assistant, changed));
const two = (other: Content) => withAgents(slackbot, { ...slackbot, ...other });
const NO_TOOL = 'allow[0].tools[0] names no command of programs';

test.for<readonly [string, unknown]>([
  [NO_ADDRESS, { ...AGENTS, url: 'http://signalbox.example.com/mcp' }],
  [NO_ADDRESS, { ...AGENTS, url: 'https://signalbox.example.com/mcp?x=1' }],
  ['tokens is not a known key', { ...AGENTS, tokens: [] }],
  ['allow must not be empty', withAgents()],
  ['allow[0].for must be people or itself', forItself({ for: undefined })],
  ['allow[0].by is missing', withAgents({ ...slackbot, by: null })],
  ['allow[1].by repeats “slack”', two({ name: 'other' })],
  ['allow[1].name repeats “ci”', withAgents(ci, ci)],
  ['allow[0].roles must not be empty', forItself({ roles: [] })],
  ['allow[0].roles[0] names no role: “admin”', forItself({ roles: ['admin'] })],
  ['allow[0].by.claims must not be empty', byCi(NO_CLAIMS)],
  ['allow[0].by must be a set of keys, not text', forItself({ by: 'slack' })],
  ['allow[0].by.person is not a known key', byCi({ person: 'sub' })],
  // Nobody could read its password.
  [`${NO_TOOL} for themselves: “service create”`, forItself({ tools: ['service create'] })],
  [
    'allow[0].roles cannot be used with for: people',
    withAgents({ ...slackbot, roles: ['operator'] }),
  ],
  ['allow[0].by.person is missing', byAssistant({ person: undefined })],
  ['allow[0].by.slack is not a known key', byAssistant({ slack: true })],
  ['allow[0].by.issuer is missing', withAgents({ ...assistant, by: { person: 'sub' } })],
  ['allow[0].tools must be at most 15 commands', tools(...Array(16).fill('service list'))],
  [`${NO_TOOL}: “service stopp”`, tools('service stopp')],
  // It is a command for people.
  [`${NO_TOOL}: “change unfreeze”`, tools('change unfreeze')],
  [`allow[0].by.events can be used with ${GITHUB} only`, byCi({ issuer: ELSEWHERE })],
  // A fork can cause it.
  [
    'allow[0].by.events[0] cannot be “pull_request_target”',
    byCi({ events: ['pull_request_target'] }),
  ],
  ['allow[0].by.claims must have one of: ref, environment, job_workflow_ref', byCi(NO_BRANCH)],
])('the start is refused: %s', ([problem, content]) => {
  expect(lines(content)).toEqual([problem]);
});

test('the start is refused with names in place of numbers', () => {
  const claims = { repository_id: 'deploy', ref: 'refs/heads/main' };
  expect(lines(byCi({ claims }))).toEqual(
    ['id', 'owner_id'].map(
      (id) => `allow[0].by.claims.repository_${id} must be a number in quotes`,
    ),
  );
});

test('all problems are named at once', () => {
  const content = { ...AGENTS, url: 'x', allow: [{ ...ci, name: 'CI', tools: [] }] };
  expect(lines(content)).toHaveLength(3);
});
