// One call of a tool: who may, what it means, what came of it. Each call identifies the person again.

import type { Tool } from '@modelcontextprotocol/server';
import type { Clock } from '../base/time.ts';
import {
  type ChangeCommand,
  type Command,
  commands,
  fieldsOf,
  type Intent,
  parseValues,
  type QueryCommand,
} from '../commands/index.ts';
import { agentId, type Change, isEnded, type Position } from '../domain/change.ts';
import {
  type AgentCaller,
  agentRequests,
  authorizeQuery,
  type WorkflowContext,
} from '../workflow/index.ts';
import type { Identified } from './identity.ts';
import { answerResult, changeResult, deniedResult, failure, type ToolResult } from './results.ts';
import {
  argumentOf,
  COMMAND_TOOLS,
  OWN_TOOLS,
  OwnArguments,
  ownProblem,
  readCall,
  type TypedCall,
  unknownArgument,
} from './tools.ts';

export interface CallPort {
  readonly context: () => WorkflowContext;
  /** The permalink of a card; null where Slack does not tell it. */
  readonly linkOf: (at: Position) => Promise<string | null>;
  readonly clock: Clock;
}

/** A call of a tool, and who makes it. */
export interface ToolCall extends Identified {
  readonly name: string;
  readonly given: Readonly<Record<string, unknown>>;
  /** Slack sent the same signed request before: it may find a change, not make one. */
  readonly repeated: boolean;
  /** Aborts when the client is gone or the process stops: a wait ends, the change does not. */
  readonly signal: AbortSignal;
}

const LOOK_EVERY_MS = 1_000;

const unaccepted = (problem: string) =>
  failure('An argument is not accepted.', { data: { problem } });

/** Whether the same call again asks for the same change, so that it can be answered again. */
export function asksForChange(name: string): boolean {
  return COMMAND_TOOLS.get(name)?.command.program === 'request';
}

/** The tools of an agent, narrowed by what the person may do; without a person, all that are configured. */
export async function listTools(context: WorkflowContext, who: Identified): Promise<Tool[]> {
  const usable = await usableTools(context, who);
  return [...(usable.ok ? usable.tools.map(({ tool }) => tool) : []), ...OWN_TOOLS];
}

async function usableTools(context: WorkflowContext, { agent, caller }: Identified) {
  const named = (names: readonly string[]) =>
    [...COMMAND_TOOLS.values()].filter(({ command }) => names.includes(command.name));
  const listed = named(agent.tools);
  if (caller === null) return { ok: true, tools: listed } as const;
  const all = listed.map(({ command }) => command);
  const usable = await agentRequests(context).commands(caller, all);
  return usable.ok ? ({ ok: true, tools: named(usable.commands) } as const) : usable;
}

export async function callTool(port: CallPort, call: ToolCall): Promise<ToolResult> {
  const { caller } = call;
  if (caller === null) return failure('The call names no person.');
  const own = OWN_TOOLS.find(({ name }) => name === call.name);
  if (own) return callOwn(port, caller, own, call);
  const context = port.context();
  const usable = await usableTools(context, call);
  if (!usable.ok) return deniedResult(usable.denial);
  const tool = usable.tools.find((one) => one.tool.name === call.name);
  if (!tool) return failure('There is no such tool, or you may not use it.');
  const read = readCall(tool, call.given);
  if (typeof read === 'string') return unaccepted(read);
  const { command } = tool;
  const vocabulary = await vocabularyFor(context, caller, command);
  const understood = parseValues(command, read.typed, '', vocabulary);
  switch (understood.kind) {
    case 'help':
      return unaccepted('Help is for people.');
    case 'incomplete': {
      const missing = understood.missing.map(argumentOf);
      return failure(`Missing: ${missing.join(', ')}.`, { arguments: missing });
    }
    case 'misread': {
      // Its sentence quotes what was given, and names what exists.
      const { sentence, problems, offers } = understood;
      const wrong = [...tool.fields].filter(([, { name }]) => name in problems);
      return failure('An argument is not accepted. Nothing was requested.', {
        arguments: wrong.map(([argument]) => argument),
        data: { problem: sentence, offers: offers.map(({ line }) => line) },
      });
    }
    case 'intent':
      return command.kind === 'change'
        ? request(port, caller, { ...understood, command }, { ...read, repeated: call.repeated })
        : answer(context, caller, command, understood.args);
  }
}

/** The names that the values can mean, read where the command needs them. */
async function vocabularyFor(context: WorkflowContext, caller: AgentCaller, { args }: Command) {
  const { services, organizations, alerts, listAlerts } = context.commandContext();
  const namesAlert = fieldsOf(args).some(({ names }) => names === 'alert');
  const listed = namesAlert && alerts ? (await listAlerts()).alerts : [];
  const zone = caller.person ? await context.people.zoneOf(caller.person) : 'UTC';
  return {
    ...{ commands, services, organizations, prefix: '', isPriced: context.prices !== null },
    alerts: listed.flatMap(({ id, name }) =>
      id === null ? [] : [{ id, name: name ?? id, aliases: [] }],
    ),
    clock: zone === null ? null : { now: context.now(), zone },
  };
}

async function answer(
  context: WorkflowContext,
  { agent, person }: AgentCaller,
  command: QueryCommand,
  args: Intent['args'],
): Promise<ToolResult> {
  const by = person ?? agentId(agent);
  const question = { command: command.name, target: command.target(args), by };
  const authorized = await authorizeQuery(context, question);
  if (!authorized.ok) return deniedResult(authorized.denial);
  return answerResult(await command.answer(args, context.commandContext(), { by, channel: null }));
}

async function request(
  port: CallPort,
  caller: AgentCaller,
  { command, args, given, timing }: Intent & { readonly command: ChangeCommand },
  { words, key, repeated }: TypedCall & Pick<ToolCall, 'repeated'>,
): Promise<ToolResult> {
  const asked = { command, args, given, timing, reason: null, words, key, repeated };
  const requested = await agentRequests(port.context()).request(caller, asked);
  if (requested.ok) {
    const lead = requested.created ? '' : 'You requested this already. ';
    return showChange(port, requested.change, lead);
  }
  if ('denial' in requested) return deniedResult(requested.denial);
  if ('noEffect' in requested) {
    const data = { text: requested.noEffect.sentence };
    return failure('It is already so. Nothing was requested.', { noEffect: true, data });
  }
  const named = new Map(fieldsOf(command.args).map((field) => [field.name, argumentOf(field)]));
  const wrong = requested.problems.map(({ field }) => named.get(field) ?? field);
  const problems = requested.problems.map(({ problem }, index) => `${wrong[index]} ${problem}`);
  const about = { arguments: wrong, data: { problems } };
  return failure('The arguments do not fit. Nothing was requested.', about);
}

async function showChange({ linkOf }: CallPort, change: Change, lead = ''): Promise<ToolResult> {
  return changeResult(change, change.card && (await linkOf(change.card)), lead);
}

async function callOwn(
  port: CallPort,
  caller: AgentCaller,
  { name, inputSchema }: Tool,
  { given, signal }: ToolCall,
): Promise<ToolResult> {
  const unknown = unknownArgument(given, Object.keys(inputSchema.properties ?? {}));
  if (unknown) return unaccepted(unknown);
  const read = OwnArguments.safeParse(given);
  if (!read.success) return failure(ownProblem(read.error.issues[0]?.path[0]));
  const { id, seconds, state } = read.data;
  const requests = () => agentRequests(port.context());
  let last = await requests()[name === 'request_cancel' ? 'cancel' : 'change'](caller, id);
  if (last.ok && name === 'request_wait') {
    const known = state ?? last.change.state;
    const until = port.clock.now() + seconds * 1_000;
    while (last.ok && last.change.state === known && !isEnded(last.change)) {
      const left = until - port.clock.now();
      if (left <= 0 || signal.aborted) break;
      await port.clock.sleep(Math.min(LOOK_EVERY_MS, left), signal);
      last = await requests().change(caller, id);
    }
  }
  return last.ok ? showChange(port, last.change) : deniedResult(last.denial);
}
