import { z } from 'zod';
import { type ConfigProblem, quoted } from '../base/problem.ts';
import { covers } from '../domain/policy.ts';

const Text = z.string().catch('');
const Texts = z.array(Text).catch([]);

function list<Item extends z.ZodType>(item: Item) {
  return z.array(item).catch([]);
}

const DeclaredParts = z.object({
  services: list(
    z
      .object({
        name: Text,
        id: Text,
        aliases: Texts,
        tags: Texts,
        warehouse: Text,
        team: Text,
        pipes: list(z.object({ name: Text, id: Text }).catch({ name: '', id: '' })),
      })
      .catch({ name: '', id: '', aliases: [], tags: [], warehouse: '', team: '', pipes: [] }),
  ),
  roles: z.record(z.string(), z.unknown()).catch({}),
  channels: z.object({ approvals: z.unknown().optional() }).catch({ approvals: undefined }),
  policy: list(
    z
      .object({
        allow: Texts,
        approvals: z.unknown().optional(),
        channel: z.unknown().optional(),
        discovered: z.unknown().optional(),
      })
      .catch({ allow: [], approvals: undefined, channel: undefined, discovered: undefined }),
  ),
  cloud: z.object({ reads: Text, tags: Texts }).catch({ reads: '', tags: [] }),
  digests: list(
    z.object({ channel: Text, period: z.string().catch('day') }).catch({ channel: '', period: '' }),
  ),
  budgets: list(z.object({ name: Text }).catch({ name: '' })),
});

/**
 * A lenient reading of the file, in which invalid parts are empty. It supplies the names that one
 * part declares and another references, so that one mistake does not hide the others.
 */
type Outline = z.output<typeof DeclaredParts>;

export function readDeclaredParts(content: unknown): Outline {
  const reading = DeclaredParts.safeParse(content ?? {});
  return reading.success ? reading.data : DeclaredParts.parse({});
}

export function declaredNames({ services, roles, cloud }: Outline) {
  return {
    roles: Object.keys(roles),
    services: new Map(services.filter(({ name }) => name !== '').map(({ name, id }) => [name, id])),
    tags: present(services.flatMap(({ tags }) => tags)),
    serverTags: present(cloud.tags),
    warehouses: present(services.map(({ warehouse }) => warehouse)),
    teams: present(services.map(({ team }) => team)),
  };
}

function present(words: readonly string[]): readonly string[] {
  return [...new Set(words)].filter((word) => word !== '');
}

export function mentions({ policy }: Outline, command: string): boolean {
  return policy.some(({ allow }) => allow.some((pattern) => covers(pattern, command)));
}

/** Rules with approvals but without a channel for their cards. */
export function cardsWithoutChannel({ channels, policy }: Outline): readonly ConfigProblem[] {
  if (channels.approvals !== undefined) return [];
  const places = policy.flatMap(({ approvals, channel }, index) =>
    approvals !== undefined && channel === undefined ? [`policy[${index}]`] : [],
  );
  if (places.length === 0) return [];
  const problem = `is missing, and ${places.join(', ')} names no channel for its approvals`;
  return [{ where: 'channels.approvals', problem, hint: "for example '#db-approvals'" }];
}

/** What has an effect only if services are discovered, in a file without extended reads. */
export function discoveryWithoutReads({ cloud, policy }: Outline): readonly ConfigProblem[] {
  if (cloud.reads === 'extended') return [];
  const rules = policy.flatMap(({ discovered }, index) =>
    discovered === 'allowed' ? [`policy[${index}].discovered`] : [],
  );
  const places = [...rules, ...(cloud.tags.length > 0 ? ['cloud.tags'] : [])];
  const problem = 'has no effect without the list of services';
  const hint = 'set cloud.reads: extended, or remove it';
  return places.map((where) => ({ where, problem, hint }));
}

/** Names and ids that must be unique but are used twice. */
export function repeatedNames({ services, digests, budgets }: Outline): readonly ConfigProblem[] {
  const names = services.flatMap(({ name, aliases }, index) => [
    { where: `services[${index}].name`, word: name },
    ...aliases.map((word, at) => ({ where: `services[${index}].aliases[${at}]`, word })),
  ]);
  const pipes = services.flatMap((service, index) =>
    service.pipes.map((pipe, at) => ({ ...pipe, where: `services[${index}].pipes[${at}]`, index })),
  );
  return [
    ...repeated(names),
    ...repeated(services.map(({ id }, index) => ({ where: `services[${index}].id`, word: id }))),
    ...services.flatMap((_, service) =>
      repeated(
        pipes
          .filter(({ index }) => index === service)
          .map(({ where, name }) => ({ where: `${where}.name`, word: name })),
      ),
    ),
    ...repeated(pipes.map(({ where, id }) => ({ where: `${where}.id`, word: id }))),
    ...repeated(
      budgets.map(({ name }, index) => ({ where: `budgets[${index}].name`, word: name })),
    ),
    ...repeated(digests.map(digestKey)),
  ];
}

// A channel has at most one digest per period, because this key prevents duplicate posts.
function digestKey({ channel, period }: Outline['digests'][number], index: number): NameUse {
  return { where: `digests[${index}]`, word: channel === '' ? '' : `${channel} by ${period}` };
}

interface NameUse {
  readonly where: string;
  readonly word: string;
}

function repeated(names: readonly NameUse[]): readonly ConfigProblem[] {
  const first = new Map<string, string>();
  return names.flatMap(({ where, word }) => {
    const key = word.toLowerCase();
    const before = first.get(key);
    if (word === '') return [];
    if (before === undefined) first.set(key, where);
    return before === undefined
      ? []
      : [{ where, problem: `repeats ${quoted(word)}`, hint: `already used at ${before}` }];
  });
}
