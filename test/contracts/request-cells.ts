import { readFileSync } from 'node:fs';
import { ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { type Command, commands, type Field, fieldsOf, verbOf } from '../../src/commands/index.ts';
import { fieldLabel } from '../../src/domain/words.ts';
import { ANA } from '../harness/users.ts';
import type { Operation } from './contract.ts';
import { operationOf } from './contract.ts';
import type { ContractBot } from './contract-bot.ts';
import { linesOf } from './message-lines.ts';
import type { Recorded } from './recorder.ts';

/** A command with one recorded exchange: the typed line and the sent requests. */
export interface Known {
  readonly command: Command;
  readonly line: string;
  readonly requests: readonly Recorded[];
  readonly preview: readonly string[];
  readonly form: readonly string[];
}

/** Where a user sees one field of a request. */
export interface RequestCells {
  readonly words: string;
  readonly modal: string;
  readonly preview: string;
  readonly request: string;
}

/** Types each recorded line again and returns its preview and form. */
export async function knownExchanges(bot: ContractBot, names: readonly string[]): Promise<Known[]> {
  const known: Known[] = [];
  for (const name of names) {
    const pair = JSON.parse(readFileSync(`test/contracts/pairs/${name}.json`, 'utf8'));
    const line: string = pair.line;
    const command = commandOf(line);
    bot.time.pass(61_000);
    const isChange = command.kind === 'change';
    const asked = isChange ? await bot.type(line) : null;
    const request = asked ? await bot.requestLines(asked) : [];
    const preview = asked ? [...bot.linesIn(asked), ...request] : [];
    const form = await formLines(bot, command, line);
    known.push({ command, line, requests: pair.contract.requests, preview, form });
  }
  return known;
}

function commandOf(line: string): Command {
  const found = commands
    .filter(({ name }) => `${line} `.startsWith(`/${name} `))
    .toSorted((a, b) => b.name.length - a.name.length)[0];
  if (!found) throw new Error(`No command reads ${line}`);
  return found;
}

/** The form of a command. A query has one only if it has required arguments. */
async function formLines(bot: ContractBot, command: Command, line: string) {
  const callbackId = command.name.replace(' ', '.');
  const needs = fieldsOf(command.args).some(({ optional }) => !optional);
  if (command.kind === 'query' && !needs) return [];
  const view =
    command.kind === 'change'
      ? await bot.openEditForm(line, callbackId)
      : await bot.form(`/${command.name}`, callbackId);
  await bot.slack.close(ANA, view.id);
  return linesOf(view.blocks);
}

export function requestCells(
  operation: Operation,
  field: string,
  exchanges: readonly Known[],
): RequestCells | null {
  const own = exchanges.filter(({ requests }) =>
    requests.some(({ method, path }) => operationOf(method, path) === operation),
  );
  const found = own.flatMap((exchange) => cellsIn(exchange, operation, field));
  return found.length > 0 ? together(found) : null;
}

function together(found: readonly RequestCells[]): RequestCells {
  const all = (key: keyof RequestCells) => [...new Set(found.map((each) => each[key]))].join(' · ');
  return {
    words: all('words'),
    modal: all('modal'),
    preview: all('preview'),
    request: all('request'),
  };
}

function cellsIn(exchange: Known, operation: Operation, field: string): RequestCells[] {
  return exchange.requests.flatMap((request) => {
    if (operationOf(request.method, request.path) !== operation) return [];
    const at = placeOf(request, operation, field);
    if (!at) return [];
    const arg = argOf(exchange.command, field, at);
    const { command, preview, form } = exchange;
    return [
      {
        words: arg ? wordsOf(arg) : originOf(command, at),
        modal: arg ? modalCell(arg, form) : 'no field',
        preview: command.kind === 'query' ? 'none: a query' : previewCell(field, arg, preview),
        request: at.in,
      },
    ];
  });
}

interface Place {
  readonly in: 'path' | 'query' | 'body';
  readonly value: unknown;
}

function placeOf(request: Recorded, operation: Operation, field: string): Place | null {
  const pattern = operation.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  const inPath = new RegExp(`^${pattern}$`).exec(request.path)?.groups?.[field];
  if (inPath !== undefined) return { in: 'path', value: inPath };
  const inQuery = new URLSearchParams(request.query).get(field);
  if (inQuery !== null) return { in: 'query', value: inQuery };
  const body = request.body === '' ? {} : JSON.parse(request.body);
  const value = field.split('.').reduce((at, key) => at?.[key], body);
  return value === undefined ? null : { in: 'body', value };
}

/** The argument that sets a field: by its name, or by the target whose id it is. */
function argOf({ args }: Command, field: string, { in: where }: Place): Field | null {
  // Where the file has one organization, nobody types it.
  if (field === 'organizationId') return null;
  const last = field.split('.').at(-1) ?? field;
  const fields = fieldsOf(args);
  const named = fields.find(({ name }) => [name, `${name}Id`].includes(last));
  if (named) return named;
  if (where === 'path')
    return fields.find(({ names }) => last === 'id' && names === 'alert') ?? null;
  return where === 'query' ? (fields.find(({ rest }) => rest) ?? null) : null;
}

function wordsOf({ word, label }: Field): string {
  return word === undefined ? `\`<${label.toLowerCase()}>\`` : `\`${word}=\``;
}

/** The origin of a sent value that the user did not type. */
function originOf(command: Command, { value }: Place): string {
  if (value === ORGANIZATION.id) return '`organization.id` of signalbox.yaml';
  if (value === verbOf(command)) return `the verb \`${verbOf(command)}\``;
  return 'sent as it was read';
}

function modalCell({ label, rest, typedOnly }: Field, form: readonly string[]): string {
  if (form.some((line) => line.startsWith(`${label}  `)))
    return typedOnly ? 'only after it was typed' : label;
  if (form.some((line) => line.startsWith(`${label} “`)))
    return `${label}, read-only after the choice`;
  return rest ? 'typed only' : '';
}

function previewCell(field: string, arg: Field | null, preview: readonly string[]): string {
  const label = arg?.label;
  const short = label?.replace(' (id)', '');
  if (label && preview.some((line) => [label, short].includes(line.split('  ')[0]))) return label;
  const kept = preview.find((line) => line.startsWith('Unchanged  '));
  const [name = field] = field.split('.');
  const labels = ['Channel'].filter((each) => preview.some((line) => line.startsWith(`${each}  `)));
  if (labels.length > 0 && name === 'channel') return labels.join();
  if (kept?.includes(fieldLabel(name).toLowerCase())) return 'Unchanged';
  const sends = preview.find((line) => line.startsWith('Sends  '));
  if (sends?.includes(`"${name}"`)) return 'Sends';
  return 'not shown: the same for every change';
}
