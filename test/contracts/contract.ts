import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

/** The operations and fields of the two contracts, as `openapi.yaml` describes them. */

export type Kind = 'text' | 'number' | 'switch' | 'list' | 'object';

export interface RequestField {
  readonly name: string;
  readonly kind: Kind;
  readonly deprecated: boolean;
  readonly nullable: boolean;
  /** The fields of an object, where `kind` is `object`. */
  readonly parts: readonly string[];
  readonly schema: FieldSchema;
}

export interface Operation {
  readonly name: string;
  readonly api: 'cloud' | 'alerts';
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  readonly path: string;
  /** Of the path, the query and the body. */
  readonly inPath: readonly string[];
  readonly query: readonly string[];
  readonly body: readonly RequestField[];
  readonly reply: readonly string[];
}

/** The rules of a field, in the words of JSON Schema. */
const FieldSchema = z.object({
  type: z.union([z.string(), z.array(z.string()).transform(([first = '']) => first)]).optional(),
  enum: z.array(z.unknown()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  multipleOf: z.number().optional(),
  maxLength: z.number().optional(),
  format: z.string().optional(),
  deprecated: z.boolean().default(false),
  examples: z.array(z.unknown()).default([]),
  'x-refused': z.array(z.string()).default([]),
});
export type FieldSchema = z.output<typeof FieldSchema>;

export const DESCRIPTION_FILE = 'test/contracts/openapi.yaml';

type Node = Readonly<Record<string, unknown>>;
const Node = z.record(z.string(), z.unknown());

const description = Node.parse(parse(readFileSync(DESCRIPTION_FILE, 'utf8'), { merge: true }));

/** What a path of keys leads to, with the references on the way followed; null without it. */
function at(node: Node, ...[key, ...rest]: readonly string[]): Node | null {
  const { $ref } = node;
  if (typeof $ref === 'string') {
    const found = at(description, ...$ref.replace('#/', '').split('/'));
    return found && (key === undefined ? found : at(found, key, ...rest));
  }
  if (key === undefined) return node;
  const inner = Node.safeParse(node[key]);
  return inner.success ? at(inner.data, ...rest) : null;
}

const JSON_BODY = ['content', 'application/json', 'schema'];

/** The properties of a schema; of alternatives the first, and of parts all. */
function propertiesOf(schema: Node): readonly (readonly [string, Node])[] {
  const list = z.array(Node).safeParse(schema.allOf ?? schema.anyOf).data ?? [];
  const parts = schema.allOf ? list : list.slice(0, 1);
  const own = Object.keys(at(schema, 'properties') ?? {}).flatMap((name) => {
    const inner = at(schema, 'properties', name);
    return inner ? [[name, inner] as const] : [];
  });
  return [...own, ...parts.flatMap((part) => propertiesOf(at(part) ?? {}))];
}

/** `bucket.bucketPath`: the fields of an object by their way; a list is one field. */
function namesIn(schema: Node): readonly string[] {
  return propertiesOf(schema).flatMap(([name, inner]) => {
    const below = namesIn(inner);
    return below.length === 0 ? [name] : below.map((each) => `${name}.${each}`);
  });
}

function requestField([name, node]: readonly [string, Node]): RequestField {
  const schema = FieldSchema.parse(node);
  return {
    name,
    kind: KINDS[schema.type ?? ''] ?? 'text',
    deprecated: schema.deprecated,
    nullable: JSON.stringify(node.type).includes('null'),
    parts: propertiesOf(node).map(([part]) => part),
    schema,
  };
}

const KINDS: Readonly<Record<string, Kind>> = {
  number: 'number',
  boolean: 'switch',
  array: 'list',
  object: 'object',
};

/** The payload of a reply: of the envelope of the cloud API or of the alerts API, and of a list its items. */
function replyOf(operation: Node): readonly string[] {
  const whole = propertiesOf(at(operation, 'responses', '200', ...JSON_BODY) ?? {});
  const [, payload = {}] = whole.find(([name]) => ['result', 'data'].includes(name)) ?? [];
  return namesIn(at(payload, 'items') ?? payload);
}

const Parameters = z.array(Node).default([]);
const METHODS = ['GET', 'POST', 'PATCH', 'PUT'] as const;

function operationsAt([path, methods]: readonly [string, Node]): readonly Operation[] {
  return METHODS.flatMap((method) => {
    const operation = at(methods, method.toLowerCase());
    if (!operation) return [];
    const parameters = Parameters.parse(operation.parameters);
    const body = at(operation, 'requestBody', ...JSON_BODY);
    return {
      name: String(operation.operationId),
      api: path.startsWith('/v1') ? 'cloud' : 'alerts',
      method,
      path,
      inPath: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
      query: parameters.map(({ name }) => String(name)),
      body: body ? propertiesOf(body).map(requestField) : [],
      reply: replyOf(operation),
    };
  });
}

const paths = Object.entries(z.record(z.string(), Node).parse(description.paths));
export const OPERATIONS: readonly Operation[] = paths.flatMap(operationsAt);

/** The operation of a request by its method and path; null if no contract has it. */
export function operationOf(method: string, path: string): Operation | null {
  const matches = ({ path: template }: Operation) =>
    new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);
  return OPERATIONS.find((each) => each.method === method && matches(each)) ?? null;
}

/** The problems of a body that the contract's table of the operation does not allow. */
export function outsideContract(operation: Operation, body: Readonly<Record<string, unknown>>) {
  return Object.entries(body).flatMap(([name, value]) => {
    const field = operation.body.find((each) => each.name === name);
    if (!field) return [`${name} is not a field`];
    if (value === null) return field.nullable ? [] : [`${name} is null`];
    return kindOf(value) === field.kind ? [] : [`${name} is no ${field.kind}`];
  });
}

function kindOf(value: unknown): Kind {
  if (Array.isArray(value)) return 'list';
  return KINDS[typeof value] ?? (typeof value === 'string' ? 'text' : 'object');
}
