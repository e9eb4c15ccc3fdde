// `agents:` of signalbox.yaml: which programs may ask, for whom, and how they prove it. Loads no protocol, so that the
// settings can be read where no agent is configured.

import { z } from 'zod';
import { declaredName, quoted, strictConfigObject, withHint } from '../base/problem.ts';
import { commands } from '../commands/index.ts';

const GITHUB = 'https://token.actions.githubusercontent.com';
/** Events that only people with write access to the repository can cause: no fork can. */
const GITHUB_EVENTS = ['push', 'schedule', 'workflow_dispatch', 'release'] as const;
const NUMBERED = ['repository_id', 'repository_owner_id'];
const PLACES = ['ref', 'environment', 'job_workflow_ref'];
const MOST_TOOLS = 15;

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

const Limits = strictConfigObject({
  /** Requests that wait or run at the same time. */
  open: z.int().min(1).max(100).default(3),
  perDay: z.int().min(1).max(1_000).default(20),
  callsPerMinute: z.int().min(1).max(600).default(60),
}).prefault({});

/** The tokens of an issuer. */
const TOKENS = {
  issuer: Address,
  /** Missing: the address of the agents. */
  audience: z.string().min(1).max(500).optional(),
  /** Where the keys of the issuer are; missing: its metadata names them. */
  jwks: Address.optional(),
};
/** Claims that must have exactly these values. */
const Claims = z.record(z.string(), z.string().min(1));

/** Null: the signature of Slack. */
const ByPerson = z.preprocess(
  (value) => (value === 'slack' ? null : (value ?? undefined)),
  strictConfigObject({
    ...TOKENS,
    claims: Claims.default({}),
    /** The claim that holds the Slack id of the person. */
    person: z.string().min(1).max(100),
  }).nullable(),
);

const ByWorkload = strictConfigObject({
  ...TOKENS,
  claims: Claims.refine((claims) => Object.keys(claims).length > 0, {
    error: withHint('must not be empty', 'the claims of your program, for example repository_id'),
  }),
  events: z.array(z.enum(GITHUB_EVENTS)).min(1).optional(),
})
  .check(({ value: { issuer, claims, events }, issues }) => {
    const refuse = (path: string[], ...message: Parameters<typeof withHint>) =>
      issues.push({ code: 'custom', input: claims, path, message: withHint(...message) });
    if (issuer !== GITHUB) {
      if (events) refuse(['events'], `can be used with ${GITHUB} only`);
      return;
    }
    for (const name of NUMBERED.filter((each) => !/^\d+$/.test(claims[each] ?? ''))) {
      refuse(['claims', name], 'must be a number in quotes', 'a name can be taken over');
    }
    if (!PLACES.some((name) => claims[name])) {
      refuse(['claims'], `must have one of: ${PLACES.join(', ')}`);
    }
  })
  .transform(({ events, ...by }) => ({
    ...by,
    /** Missing: the issuer knows no events. */
    events: events ?? (by.issuer === GITHUB ? GITHUB_EVENTS : undefined),
  }));

const FOR_PEOPLE = commands.filter(({ program }) => program !== 'none');
/** A password is for the person who requests it. */
const FOR_ITSELF = FOR_PEOPLE.filter((one) => !(one.kind === 'change' && one.hasSecret));

function toolsSchema(what: string, allowed: typeof commands) {
  const names = allowed.map(({ name }) => name);
  return z
    .array(declaredName(what, names))
    .min(1)
    .max(MOST_TOOLS, { error: `must be at most ${MOST_TOOLS} commands` });
}

function agentSchema(roles: readonly string[], organizations: readonly string[]) {
  const shape = {
    name: z.string().regex(/^[a-z][a-z0-9-]{1,30}$/, {
      error: 'must be 2 to 31 lower-case letters, digits and dashes, and begin with a letter',
    }),
    limits: Limits,
    /** Missing: all. */
    organizations: z.array(declaredName('organization', organizations)).min(1).optional(),
  };
  const people = strictConfigObject({
    ...{ ...shape, for: z.literal('people'), by: ByPerson },
    /** Those of the person count. */
    roles: z.array(z.string()).max(0, { error: 'cannot be used with for: people' }).default([]),
    tools: toolsSchema('command of programs', FOR_PEOPLE),
  });
  const itself = strictConfigObject({
    ...{ ...shape, for: z.literal('itself'), by: ByWorkload },
    roles: z.array(declaredName('role', roles)).min(1),
    tools: toolsSchema('command of programs for themselves', FOR_ITSELF),
  });
  return z.discriminatedUnion('for', [people, itself], {
    error: ({ code }) => (code === 'invalid_union' ? 'must be people or itself' : undefined),
  });
}

/** The part `agents` of signalbox.yaml, for the roles and organizations that the file declares. */
export function agentsSchema(roles: readonly string[], organizations: readonly string[] = []) {
  return strictConfigObject({
    /** What clients type, and what `Host` must be. */
    url: Address,
    /** The web pages that may call; none by default. */
    origins: z.array(z.string().max(500)).default([]),
    allow: z.array(agentSchema(roles, organizations)).min(1),
  }).check(({ value: { allow }, issues }) => {
    for (const [index, { name, by }] of allow.entries()) {
      const before = allow.slice(0, index);
      const refuse = (key: string, word: string) => {
        const message = `repeats ${quoted(word)}`;
        issues.push({ code: 'custom', input: word, path: ['allow', index, key], message });
      };
      if (before.some((other) => other.name === name)) refuse('name', name);
      if (by === null && before.some((other) => other.by === null)) refuse('by', 'slack');
    }
  });
}

/** Programs that may ask, and the address at which they do. */
export type AgentsConfig = z.output<ReturnType<typeof agentsSchema>>;
export type AgentSettings = AgentsConfig['allow'][number];
/** An agent whose credential is a token. */
export type TokenAgent = AgentSettings & { readonly by: object };
export const hasTokens = (agent: AgentSettings): agent is TokenAgent => agent.by !== null;
