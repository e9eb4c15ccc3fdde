// Slackbot as a client of an app's MCP server, stricter than Slack's documentation: signed calls, a person for each
// call of a tool and for nothing else, consent for what is not read-only, 60 s, text only. It has no model.

import { isJson, type Json, list, parseJson, record, stringOf } from '../json.ts';
import { signatureOf } from './delivery/signed-http.ts';
import { addMessage, updateMessage } from './messages.ts';
import type { StoredMessage } from './records.ts';
import type { Slackbot, SlackState } from './state.ts';
import { escapeMrkdwn } from './text-encoding.ts';
import { type Member, payloadId, SLACKBOT, SLACKBOT_CHANNEL } from './workspace/workspace.ts';

export interface McpServer {
  readonly url: string;
  readonly signingSecret: string;
  /** The time for signatures, which the server compares with its own clock. */
  readonly signedAt: () => Date;
}

interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, string>>;
}

const WITHIN_MS = 60_000;
const VERSION = '2025-06-18';
const UNDERSTOOD =
  'I understand: “stop SERVICE, REASON”, “start SERVICE, REASON”, “show SERVICE”, “services” and “costs”.';

/** The call that a sentence asks for; null where it is none of the few that are understood. */
function callIn(sentence: string): ToolCall | null {
  const words = sentence.trim().replace(/[.!?]$/, '');
  const [, verb = '', service = '', reason = ''] =
    /^(stop|start|show) ([\w-]+)(?:,? (.+))?$/i.exec(words) ?? [];
  const given = { service, ...(reason && { reason }) };
  if (verb) return { name: `service_${verb.toLowerCase()}`, arguments: given };
  if (/^services$/i.test(words)) return { name: 'service_list', arguments: {} };
  return /^costs?$/i.test(words) ? { name: 'cost', arguments: {} } : null;
}

/** Slackbot with one MCP server. The conversation exists in the workspace from here on. */
export function slackbotOf(slack: SlackState, server: McpServer): Slackbot {
  slack.workspace.channels.push({
    ...{ id: SLACKBOT_CHANNEL, name: 'Slackbot', kind: 'dm', archived: false },
    topic: `The sandbox's Slackbot has no model. ${UNDERSTOOD}`,
    members: slack.workspace.members.filter(({ kind }) => kind !== 'bot').map(({ id }) => id),
  });
  const waiting = new Map<string, ToolCall>();
  let lastId = 0;
  let opened = false;

  /** One message as Slack sends it; the result, or null for a notification. */
  const send = async (method: string, params: Json, isRequest = true): Promise<Json | null> => {
    lastId += 1;
    const id = lastId;
    const message = { jsonrpc: '2.0', ...(isRequest && { id }), method, params };
    const body = JSON.stringify(message);
    const response = await fetch(server.url, {
      method: 'POST',
      redirect: 'error',
      signal: AbortSignal.timeout(WITHIN_MS),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(opened && { 'mcp-protocol-version': VERSION }),
        ...signatureOf(server.signingSecret, server.signedAt(), body),
      },
      body,
    });
    const text = await response.text();
    if (!isRequest) return response.status === 202 ? null : fail(`status ${response.status}`);
    const reply = record(parseJson(/^data: (.*)$/m.exec(text)?.[1] ?? text));
    if (response.status !== 200 || reply.id !== id || !isJson(reply.result)) {
      return fail(stringOf(record(reply.error).message) || `status ${response.status}`);
    }
    return reply.result;
  };

  const open = async (): Promise<void> => {
    if (opened) return;
    const clientInfo = { name: 'Slackbot', version: '1' };
    const extensions = {
      'io.slack/block-kit': { mimeTypes: ['application/vnd.slack.blocks+json'] },
    };
    const capabilities = { extensions };
    const hello = { protocolVersion: VERSION, capabilities, clientInfo };
    const result = await send('initialize', hello);
    if (result?.protocolVersion !== VERSION) fail('another version of the protocol');
    opened = true;
    await send('notifications/initialized', {}, false);
  };

  const say = (person: Member, text: string, blocks: readonly Json[] = []) =>
    addMessage(slack, {
      ...{ channel: SLACKBOT_CHANNEL, author: SLACKBOT, ephemeralFor: person.id },
      ...{ text: escapeMrkdwn(text), blocks },
    });

  const call = async (person: Member, wanted: ToolCall): Promise<void> => {
    const { teamId, enterpriseId } = slack.workspace;
    const enterprise = enterpriseId && { enterprise_id: enterpriseId };
    const meta = {
      slack: { user_id: payloadId(slack.workspace, person), team_id: teamId, ...enterprise },
    };
    const result = await send('tools/call', { ...wanted, _meta: meta });
    const content = list(result?.content);
    const isText = content.length > 0 && content.every(({ type }) => type === 'text');
    say(person, isText ? answerIn(content) : 'Signalbox answered with more than text.');
  };

  /** Says why it failed: the person waits for an answer. */
  const orSay = async (person: Member, run: () => Promise<unknown>): Promise<void> => {
    try {
      await run();
    } catch (error) {
      say(person, `Signalbox did not answer: ${error instanceof Error ? error.message : error}`);
    }
  };

  return {
    hear: (person, sentence) =>
      orSay(person, async () => {
        const wanted = callIn(sentence);
        if (!wanted) return say(person, UNDERSTOOD);
        await open();
        const tool = list((await send('tools/list', {}))?.tools).find(
          ({ name }) => name === wanted.name,
        );
        if (!tool) return say(person, 'Signalbox offers no tool for this.');
        if (record(tool.annotations).readOnlyHint === true) return call(person, wanted);
        const question = say(person, `Allow ${wanted.name}?`, consentFor(wanted));
        waiting.set(question.ts, wanted);
      }),
    decide: (person, question, actionId) =>
      orSay(person, async () => {
        const wanted = waiting.get(question.ts);
        if (!wanted || !waiting.delete(question.ts)) return;
        const isAllowed = actionId === 'slackbot.allow';
        slack.interactions.push({ person: person.id, name: actionId, at: slack.now() });
        const text = `${wanted.name}: ${isAllowed ? 'allowed once' : 'denied'}`;
        updateMessage(slack, question, { text, blocks: [] });
        if (isAllowed) await call(person, wanted);
      }),
  };
}

function fail(problem: string): never {
  throw new Error(problem);
}

function consentFor({ name, arguments: given }: ToolCall): readonly Json[] {
  const values = Object.entries(given).map(([key, value]) => `${key}: ${value}`);
  const text = `Signalbox wants to use ${name}.\n${values.join('\n')}`;
  const button = (label: string, id: string) => ({
    ...{ type: 'button', text: { type: 'plain_text', text: label }, action_id: `slackbot.${id}` },
  });
  return [
    { type: 'section', text: { type: 'plain_text', text } },
    { type: 'actions', elements: [button('Allow once', 'allow'), button('Deny', 'deny')] },
  ];
}

/** A model would say it in its own words: the summary, then what was asked for, or the link. */
function answerIn(content: readonly Json[]): string {
  const text = content.map((part) => stringOf(part.text)).join('\n');
  const { summary, card, change, data } = record(parseJson(text));
  const rest = change ? stringOf(card) : (JSON.stringify(data) ?? '').slice(0, 2_000);
  return `${stringOf(summary) || text}\n${rest}`.trim();
}

/** Whether this message is a question of Slackbot, whose buttons no app hears of. */
export const isOfSlackbot = ({ channel, author }: StoredMessage): boolean =>
  channel === SLACKBOT_CHANNEL && author === SLACKBOT;
