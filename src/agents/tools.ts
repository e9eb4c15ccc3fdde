// The tools: one per command that the configuration lists, and three for own requests. Nothing else exists: no tool
// confirms for a person, approves, resolves or ends a freeze.

import type { Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { cleanText } from '../base/text.ts';
import {
  type Command,
  commands,
  type Field,
  fieldsOf,
  type TypedValues,
  titleOf,
} from '../commands/index.ts';
import { isChangeId } from '../domain/change.ts';

export interface CommandTool {
  readonly tool: Tool;
  readonly command: Command;
  /** The fields of the command by the names of the arguments: those that people type. */
  readonly fields: ReadonlyMap<string, Field>;
}

/** What a program says beside the values of the command. */
const WORDS_MAX = 180;
const KEY_MAX = 64;
const BESIDE = {
  reason: {
    type: 'string',
    maxLength: WORDS_MAX,
    title: 'Reason',
    description: 'Why, in one line. People see it as a quotation of the agent',
  },
  key: {
    type: 'string',
    maxLength: KEY_MAX,
    title: 'Request key',
    description: 'The same key is the same request for seven days, for example the id of a run',
  },
};

const READS = { readOnlyHint: true, openWorldHint: false };
const REQUESTS = { ...READS, readOnlyHint: false, destructiveHint: true, idempotentHint: true };
const KEPT = 'type enum minimum maximum multipleOf minLength maxLength items'.split(' ');

/** The name under which a value is typed: `max` in `max=64`. */
export const argumentOf = ({ word, key, name }: Field): string => word ?? key ?? name;

function toolOf(command: Command): CommandTool {
  const { properties: schemas = {}, required = [] } = z.toJSONSchema(command.args, {
    io: 'input',
  });
  const fields = new Map(fieldsOf(command.args).map((field) => [argumentOf(field), field]));
  const properties = [...fields].map(([argument, { name, label, hint }]) => {
    const kept = Object.entries(schemas[name] ?? {}).filter(([key]) => KEPT.includes(key));
    const about = { title: label, ...(hint && { description: hint }) };
    return [argument, { ...Object.fromEntries(kept), ...about }] as const;
  });
  const isRequest = command.program === 'request';
  const needed = [...fields].filter(([, { name }]) => required.includes(name));
  const tool: Tool = {
    name: command.name.replaceAll(' ', '_'),
    title: titleOf(command),
    description: isRequest
      ? `${command.summary}. Only requests it: nothing runs before people in Slack approve it.`
      : `${command.summary}.`,
    inputSchema: {
      ...{ type: 'object', additionalProperties: false },
      properties: { ...Object.fromEntries(properties), ...(isRequest && BESIDE) },
      ...(needed.length > 0 && { required: needed.map(([argument]) => argument) }),
    },
    annotations: isRequest ? REQUESTS : READS,
  };
  return { tool, command, fields };
}

/** Built once: nothing of it depends on the caller. */
export const COMMAND_TOOLS: ReadonlyMap<string, CommandTool> = new Map(
  commands
    .filter(({ program }) => program !== 'none')
    .map((command) => toolOf(command))
    .map((one) => [one.tool.name, one]),
);

const WAIT_MAX_S = 50;

export const OwnArguments = z.strictObject({
  id: z
    .string()
    .refine(isChangeId)
    .meta({ title: 'Change', description: 'The id that the request returned' }),
  seconds: z.int().min(1).max(WAIT_MAX_S).default(WAIT_MAX_S).meta({ title: 'Seconds' }),
  state: z.string().optional().meta({ title: 'State', description: 'The state that you know' }),
});

/** What an own argument must be. */
export function ownProblem(argument: unknown): string {
  if (argument === 'id') return 'You have no request with this id.';
  return argument === 'state'
    ? 'state must be a text.'
    : `seconds must be from 1 to ${WAIT_MAX_S}.`;
}

function ownTool(
  [name, title]: readonly [string, string],
  description: string,
  args: z.ZodObject = OwnArguments.pick({ id: true }),
  annotations: Tool['annotations'] = READS,
): Tool {
  const { $schema: _, ...schema } = z.toJSONSchema(args, { io: 'input' });
  return { name, title, description, inputSchema: schema as Tool['inputSchema'], annotations };
}

/** For own requests only: of the same agent, for the same person. */
export const OWN_TOOLS: readonly Tool[] = [
  ownTool(['request_status', 'Status of a request'], 'Shows one of your requests.'),
  ownTool(
    ['request_wait', 'Wait for a request'],
    `Waits until one of your requests enters another state, at most ${WAIT_MAX_S} seconds. People can take hours: after a few waits, report the link and stop.`,
    OwnArguments,
  ),
  ownTool(
    ['request_cancel', 'Cancel a request'],
    'Cancels one of your requests that was not sent.',
    undefined,
    { ...REQUESTS, destructiveHint: false },
  ),
];

const NAMES = [...COMMAND_TOOLS.keys(), ...OWN_TOOLS.map(({ name }) => name)];
/** From a closed list, for the metrics. */
export const toolLabel = (given: unknown) => NAMES.find((name) => name === given) ?? 'unknown';

/** What a call gives for a command, as a person would type it: there is one parser. */
export interface TypedCall {
  readonly typed: TypedValues;
  /** What the agent says, and the key of its request; null: nothing. */
  readonly words: string | null;
  readonly key: string | null;
}

const TEXT_MAX = 5_000;
const ITEMS_MAX = 100;

/** Reads the arguments; or a sentence about what Signalbox does not take, which quotes it and is data. */
export function readCall(
  { command, fields }: CommandTool,
  given: Readonly<Record<string, unknown>>,
): TypedCall | string {
  const beside = command.program === 'request' ? Object.keys(BESIDE) : [];
  const unknown = unknownArgument(given, [...fields.keys(), ...beside]);
  if (unknown) return unknown;
  const typed: Record<string, string> = {};
  for (const [argument, value] of Object.entries(given)) {
    const text = textOf(value);
    if (text === null) {
      return `${argument} must be a text, a number, true, false or a list of texts.`;
    }
    const field = fields.get(argument);
    // As in a typed line: equal values are equal text.
    if (field) typed[field.name] = text.trim();
  }
  const [words, key] = beside.map((name) => textOf(given[name]) ?? '');
  const used = command.peopleOnly?.find((word) =>
    Object.values(typed).some((text) => text.toLowerCase().split(/\s+/).includes(word)),
  );
  if (used) return `${used} is for people only. Leave it out.`;
  if (key && !/^[\w.:/-]{1,64}$/.test(key)) {
    return `key must be at most ${KEY_MAX} letters, digits and signs of . _ : / -`;
  }
  return { typed, words: words || null, key: key || null };
}

/** Refuses arguments that a tool does not have: a program must learn that nothing came of them. */
export function unknownArgument(
  given: Readonly<Record<string, unknown>>,
  known: readonly string[],
): string | null {
  const unknown = Object.keys(given).find((argument) => !known.includes(argument));
  if (unknown === undefined) return null;
  const rest = known.length > 0 ? `It has: ${known.join(', ')}.` : '';
  return `This tool has no argument “${cleanText(unknown, 40)}”. ${rest}`;
}

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value.length > TEXT_MAX ? null : value;
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (!Array.isArray(value) || value.length > ITEMS_MAX) return null;
  return value.every((one) => typeof one === 'string') ? textOf(value.join('\n')) : null;
}
