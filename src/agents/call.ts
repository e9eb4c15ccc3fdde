// One call of a tool: who may, what it means, what came of it. Each call identifies the person again.

import { cleanText } from '../base/text.ts';
import type { Clock } from '../base/time.ts';
import {
  type ChangeCommand,
  commands,
  fieldsOf,
  type Intent,
  parseValues,
  type QueryCommand,
  type Vocabulary,
} from '../commands/index.ts';
import {
  agentId,
  type Change,
  isChangeId,
  isEnded,
  type Position,
  type UserId,
} from '../domain/change.ts';
import {
  type AgentCaller,
  agentRequests,
  authorizeQuery,
  type WorkflowContext,
} from '../workflow/index.ts';
import type { AgentSettings } from './config.ts';
import type { Principal } from './identity.ts';
import { answerResult, changeResult, deniedResult, failure, type ToolResult } from './results.ts';
import {
  COMMAND_TOOLS,
  type CommandTool,
  OWN_TOOLS,
  readCall,
  type Tool,
  type TypedCall,
  unknownArgument,
  WAIT_MAX_S,
} from './tools.ts';

export interface CallPort {
  readonly context: () => WorkflowContext;
  /** The permalink of a card; null where Slack does not tell it. */
  readonly linkOf: (at: Position) => Promise<string | null>;
  readonly clock: Clock;
}

/** A call of a tool. */
export interface ToolCall {
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

const NO_TOOL = failure('There is no such tool, or you may not use it.');

function callerOf({ agent, person, subject }: Principal): AgentCaller {
  return { agent: agent.name, subject, person, limits: agent.limits };
}

const actorOf = ({ agent, person }: AgentCaller): UserId => person ?? agentId(agent);

function listedTools({ tools }: AgentSettings): readonly CommandTool[] {
  return [...COMMAND_TOOLS.values()].filter(({ command }) => tools.includes(command.name));
}

/** Whether the same call again asks for the same change, so that it can be answered again. */
export function asksForChange(name: string): boolean {
  return COMMAND_TOOLS.get(name)?.command.program === 'request';
}

/** The tools of an agent, narrowed by what the person may do; without a person, all that are configured. */
export async function listTools(
  context: WorkflowContext,
  agent: AgentSettings,
  principal: Principal | null,
): Promise<readonly Tool[]> {
  const listed = listedTools(agent);
  const own = principal ? await usableTools(context, callerOf(principal), listed) : listed;
  return [...own.map(({ tool }) => tool), ...OWN_TOOLS];
}

async function usableTools(
  context: WorkflowContext,
  caller: AgentCaller,
  listed: readonly CommandTool[],
): Promise<readonly CommandTool[]> {
  const all = listed.map(({ command }) => command);
  const usable = await agentRequests(context).commands(caller, all);
  return usable.ok ? listed.filter(({ command }) => usable.commands.includes(command.name)) : [];
}

export async function callTool(
  port: CallPort,
  principal: Principal,
  call: ToolCall,
): Promise<ToolResult> {
  const caller = callerOf(principal);
  if (OWN_TOOLS.some(({ name }) => name === call.name)) return callOwn(port, caller, call);
  const tool = listedTools(principal.agent).find((one) => one.tool.name === call.name);
  if (!tool) return NO_TOOL;
  const context = port.context();
  const usable = await agentRequests(context).commands(caller, [tool.command]);
  if (!usable.ok) return deniedResult(usable.denial);
  if (usable.commands.length === 0) return NO_TOOL;
  const read = readCall(tool, call.given);
  if ('refused' in read) return unaccepted(read.refused);
  const understood = parseValues(
    tool.command,
    read.typed,
    '',
    await vocabularyFor(context, caller, tool),
  );
  switch (understood.kind) {
    case 'help':
      return NO_TOOL;
    case 'incomplete': {
      const missing = understood.missing.map(({ name }) => argumentNamed(tool, name));
      return failure(`Missing: ${missing.join(', ')}.`, { arguments: missing });
    }
    case 'misread': {
      // Its sentence quotes what was given, and names what exists.
      const { sentence, problems, offers } = understood;
      return failure('An argument is not accepted. Nothing was requested.', {
        arguments: Object.keys(problems).map((name) => argumentNamed(tool, name)),
        data: {
          problem: cleanText(sentence, 400),
          offers: offers.map(({ line }) => cleanText(line)),
        },
      });
    }
    case 'intent': {
      const { command } = understood;
      return command.kind === 'change'
        ? request(port, caller, { ...understood, command }, { ...read, repeated: call.repeated })
        : answer(context, caller, command, understood.args);
    }
  }
}

function argumentNamed({ fields }: CommandTool, name: string): string {
  return [...fields].find(([, field]) => field.name === name)?.[0] ?? name;
}

/** The names that the values can mean, read where the command needs them. */
async function vocabularyFor(
  context: WorkflowContext,
  caller: AgentCaller,
  { command }: CommandTool,
): Promise<Vocabulary> {
  const { services, organization, alerts, listAlerts } = context.commandContext();
  const namesAlert = fieldsOf(command.args).some(({ names }) => names === 'alert');
  const listed = namesAlert && alerts ? (await listAlerts()).alerts : [];
  const zone = caller.person ? await context.people.zoneOf(caller.person) : 'UTC';
  return {
    ...{ commands, services, organization, prefix: '', isPriced: context.prices !== null },
    alerts: listed.flatMap(({ id, name }) =>
      id === null ? [] : [{ id, name: name ?? id, aliases: [] }],
    ),
    clock: zone === null ? null : { now: context.now(), zone },
  };
}

async function answer(
  context: WorkflowContext,
  caller: AgentCaller,
  command: QueryCommand,
  args: Intent['args'],
): Promise<ToolResult> {
  const by = actorOf(caller);
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
  const asked = { command, args, given, timing, reason: null, words: words || null, key, repeated };
  const requested = await agentRequests(port.context()).request(caller, asked);
  if (requested.ok) {
    return showChange(
      port,
      requested.change,
      requested.created ? '' : 'You requested this already. ',
    );
  }
  if ('denial' in requested) return deniedResult(requested.denial);
  if ('noEffect' in requested) {
    const data = { text: cleanText(requested.noEffect.sentence, 400) };
    return failure('It is already so. Nothing was requested.', { noEffect: true, data });
  }
  const problems = requested.problems.map(({ field, problem }) =>
    cleanText(`${field} ${problem}`.trim(), 400),
  );
  return failure('The arguments do not fit the target. Nothing was requested.', {
    data: { problems },
  });
}

async function showChange({ linkOf }: CallPort, change: Change, lead = ''): Promise<ToolResult> {
  return changeResult(change, change.card && (await linkOf(change.card)), lead);
}

async function callOwn(
  port: CallPort,
  caller: AgentCaller,
  { name, given, signal }: ToolCall,
): Promise<ToolResult> {
  const tool = OWN_TOOLS.find((one) => one.name === name);
  const unknown = unknownArgument(given, Object.keys(tool?.inputSchema.properties ?? {}));
  if (unknown) return unaccepted(unknown.refused);
  const { id, seconds = WAIT_MAX_S, state } = given;
  if (typeof id !== 'string' || !isChangeId(id)) {
    return failure('You have no request with this id.', { arguments: ['id'] });
  }
  const isSpan = typeof seconds === 'number' && seconds >= 1 && seconds <= WAIT_MAX_S;
  if (!isSpan) return failure(`seconds must be from 1 to ${WAIT_MAX_S}.`);
  const load = () => agentRequests(port.context()).change(caller, id);
  const found = await load();
  if (!found.ok) return deniedResult(found.denial);
  if (name === 'request_cancel') {
    const cancelled = await agentRequests(port.context()).cancel(caller, found.change.id);
    return cancelled.ok ? showChange(port, cancelled.change) : deniedResult(cancelled.denial);
  }
  if (name === 'request_status') return showChange(port, found.change);
  const known = typeof state === 'string' ? state : found.change.state;
  const until = port.clock.now() + seconds * 1_000;
  let last: Awaited<ReturnType<typeof load>> = found;
  while (last.ok && last.change.state === known && !isEnded(last.change)) {
    const left = until - port.clock.now();
    if (left <= 0 || signal.aborted) break;
    await port.clock.sleep(Math.min(LOOK_EVERY_MS, left), signal);
    last = await load();
  }
  return last.ok ? showChange(port, last.change) : deniedResult(last.denial);
}
