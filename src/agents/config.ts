// `agents:` of signalbox.yaml: which programs may ask, for whom, and how they prove it. Loads no protocol, so that the
// settings can be read where no agent is configured.

import { z } from 'zod';
import { declaredName, quoted, strictConfigObject, withHint } from '../base/problem.ts';
import { commands } from '../commands/index.ts';

const GITHUB = 'https://token.actions.githubusercontent.com';
/** Events that only people with write access to the repository can cause. */
const GITHUB_EVENTS = ['push', 'schedule', 'workflow_dispatch', 'release'];
const FORK_EVENTS = ['pull_request_target', 'workflow_run'];
const NUMBERED = ['repository_id', 'repository_owner_id'];
const PLACES = ['ref', 'environment', 'job_workflow_ref'];
const MOST_TOOLS = 15;
/** Their password is for the person who requests it. */
const WITH_PASSWORD = commands.flatMap((one) =>
  one.kind === 'change' && one.hasSecret ? [one.name] : [],
);

const Address = z
  .string()
  .max(500)
  .refine(isAddress, {
    error: withHint(
      'must be an https address without user, query and fragment',
      'for example https://signalbox.example.com/mcp; http only for this machine',
    ),
  });

function isAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || /[?#]/.test(text)) return false;
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocal);
}

const Name = z.string().regex(/^[a-z][a-z0-9-]{1,30}$/, {
  error: 'must be 2 to 31 lower-case letters, digits and dashes, and begin with a letter',
});

const Limits = strictConfigObject({
  /** Requests that wait or run at the same time. */
  open: z.int().min(1).max(100).default(3),
  perDay: z.int().min(1).max(1_000).default(20),
  callsPerMinute: z.int().min(1).max(600).default(60),
}).prefault({});

/** `slack`, or the tokens of an issuer. */
const By = z.preprocess(
  (value) => (value === 'slack' ? { slack: true } : value),
  strictConfigObject({
    slack: z.literal(true).optional(),
    issuer: Address.optional(),
    audience: z.string().min(1).max(500).optional(),
    /** Claims that must have exactly these values. */
    claims: z.record(z.string(), z.string().min(1)).default({}),
    /** The claim that holds the Slack id of the person. */
    person: z.string().min(1).max(100).optional(),
    /** Where the keys of the issuer are; missing: its metadata names them. */
    jwks: Address.optional(),
    events: z.array(z.string().min(1)).min(1).optional(),
  }),
);

type GivenBy = z.output<typeof By>;

function agentSchema(roles: readonly string[]) {
  const names = commands.map(({ name }) => name);
  const closed = commands.filter(({ program }) => program === 'none').map(({ name }) => name);
  const Tool = declaredName('command', names).refine((name) => !closed.includes(name), {
    error: ({ input }) => `names a command for people only: ${quoted(String(input))}`,
  });
  return strictConfigObject({
    name: Name,
    for: z.enum(['people', 'itself']),
    by: By,
    roles: z.array(declaredName('role', roles)).default([]),
    tools: z
      .array(Tool)
      .min(1)
      .max(MOST_TOOLS, { error: `must be at most ${MOST_TOOLS} commands` }),
    limits: Limits,
  }).check(({ value, issues }) => {
    for (const [path, ...message] of agentProblems(value)) {
      issues.push({ code: 'custom', input: value, path: [...path], message: withHint(...message) });
    }
  });
}

/** The path of the value, the problem, and what to do. */
type AgentProblem = readonly [path: readonly string[], problem: string, hint?: string];

function* agentProblems(agent: {
  readonly for: 'people' | 'itself';
  readonly by: GivenBy;
  readonly roles: readonly string[];
  readonly tools: readonly string[];
}): Generator<AgentProblem> {
  const { roles, by, tools } = agent;
  const { slack = false, issuer, claims, person, ...rest } = by;
  const isOwn = agent.for === 'itself';
  if (isOwn && roles.length === 0) {
    yield [
      ['roles'],
      'is missing',
      'an agent for itself has roles of its own, for example [operator]',
    ];
  }
  for (const name of isOwn ? tools.filter((tool) => WITH_PASSWORD.includes(tool)) : []) {
    yield [['tools'], `cannot have ${name} with for: itself`, 'nobody could read its password'];
  }
  if (!isOwn && roles.length > 0) {
    yield [['roles'], 'cannot be used with for: people', 'the roles of the person count'];
  }
  if (slack) {
    const given = { issuer, person, ...rest, ...claims };
    if (isOwn) yield [['by'], 'cannot be slack with for: itself', 'the signature names a person'];
    if (Object.values(given).some(Boolean)) yield [['by'], 'must be slack alone, or an issuer'];
    return;
  }
  if (!issuer) yield [['by', 'issuer'], 'is missing', 'the issuer of the tokens, or by: slack'];
  if (isOwn && Object.keys(claims).length === 0) {
    yield [['by', 'claims'], 'is missing', 'the claims of your program, for example repository_id'];
  }
  if (isOwn && person) yield [['by', 'person'], 'cannot be used with for: itself'];
  if (!isOwn && !person) {
    yield [['by', 'person'], 'is missing', 'the claim that holds the Slack id of the person'];
  }
  yield* githubProblems(by);
}

function* githubProblems({ issuer, claims, events = [] }: GivenBy): Generator<AgentProblem> {
  if (issuer !== GITHUB) {
    if (events.length > 0) yield [['by', 'events'], `can be used with ${GITHUB} only`];
    return;
  }
  for (const name of NUMBERED.filter((each) => !/^\d+$/.test(claims[each] ?? ''))) {
    yield [['by', 'claims', name], 'must be a number in quotes', 'a name can be taken over'];
  }
  if (!PLACES.some((name) => claims[name])) {
    yield [['by', 'claims'], `must have one of: ${PLACES.join(', ')}`];
  }
  for (const event of events.filter((each) => FORK_EVENTS.includes(each))) {
    yield [['by', 'events'], `cannot have ${event}`, 'a fork of the repository can cause it'];
  }
}

/** The part `agents` of signalbox.yaml, for the roles that the file declares. */
export function agentsSchema(roles: readonly string[]) {
  return strictConfigObject({
    /** What clients type, and what `Host` must be. */
    url: Address,
    /** The web pages that may call; none by default. */
    origins: z.array(z.string().max(500)).default([]),
    allow: z.array(agentSchema(roles)).min(1),
  })
    .check(({ value, issues }) => {
      const slack = value.allow.flatMap(({ by }, index) => (by.slack ? [index] : []));
      const names = value.allow.map(({ name }) => name);
      const repeats = [
        ...slack.slice(1).map((index) => [index, 'by', 'slack'] as const),
        ...names.flatMap((name, index) =>
          names.indexOf(name) < index ? [[index, 'name', name] as const] : [],
        ),
      ];
      for (const [index, key, word] of repeats) {
        const message = `repeats ${quoted(word)}`;
        issues.push({ code: 'custom', input: value, path: ['allow', index, key], message });
      }
    })
    .transform(({ allow, ...rest }) => ({
      ...rest,
      allow: allow.map((agent) => ({ ...agent, by: tokensOf(agent.by, rest.url) })),
    }));
}

/** Null: the signature of Slack. */
function tokensOf(
  { slack, issuer = '', audience, claims, person, jwks, events }: GivenBy,
  url: string,
) {
  if (slack) return null;
  const isGithub = issuer === GITHUB;
  return {
    ...{ issuer, claims, audience: audience ?? url, person: person ?? null },
    /** Null: the metadata of the issuer names the place of its keys. */
    jwks: jwks ?? (isGithub ? `${GITHUB}/.well-known/jwks` : null),
    /** Null: the issuer knows no events. */
    events: events ?? (isGithub ? GITHUB_EVENTS : null),
  };
}

/** Programs that may ask, and the address at which they do. */
export type AgentsConfig = z.output<ReturnType<typeof agentsSchema>>;
export type AgentSettings = AgentsConfig['allow'][number];
export type TokenSettings = NonNullable<AgentSettings['by']>;
