import type { CommandTyped, Delivery, Json } from '../../protocol.ts';
import { delivery, notAsked } from '../delivery/answer.ts';
import type { World } from '../state.ts';
import { escaped, resolved } from '../text-encoding.ts';
import type { Member, Room } from '../workspace.ts';
import { actingPerson, isOfThisWorkspace, roomName, roomWith } from './actor.ts';
import { acknowledged, reply, type Source } from './replies.ts';
import { issueResponseUrl } from './response-urls.ts';
import { issueTrigger } from './triggers.ts';

/** A person types a slash command into a channel and sends it. */
export async function command(world: World, typed: CommandTyped): Promise<Delivery> {
  const person = actingPerson(world, typed.as);
  const room = roomWith(world, person, typed.channel);
  const [, name = '', rest = ''] = typed.text.trim().match(/^(\/\S+)\s*([\s\S]*)$/) ?? [];
  const known = world.manifest.commands.find((one) => one.command === name);
  if (!known || !isOfThisWorkspace(world, person)) {
    return notAsked(`${name || typed.text} is not a valid command.`);
  }
  const source = {
    person: person.id,
    channel: room.id,
    threadTs: null,
    message: null,
    typed: escaped(typed.text.trim()),
  };
  const text = known.should_escape ? resolved(world.workspace, rest) : rest;
  const payload = commandPayload(world, { person, room, name, text, source });
  const answer = await world.courier('slash_commands', payload);
  if (answer.failure) return delivery(answer, failed(name, answer.failure));
  const body = acknowledged(answer.body);
  const refused = body !== null && reply(world, source, body).ok !== true;
  return delivery(answer, refused ? failed(name, 'invalid_command_response') : null);
}

function failed(name: string, error: string): string {
  return `${name} failed with the error "${error}"`;
}

interface Typed {
  readonly person: Member;
  readonly room: Room;
  readonly name: string;
  readonly text: string;
  readonly source: Source;
}

function commandPayload(world: World, { person, room, name, text, source }: Typed): Json {
  const { teamId, domain, appId } = world.workspace;
  return {
    token: 'deprecated',
    team_id: teamId,
    team_domain: domain,
    channel_id: room.id,
    channel_name: roomName(room),
    user_id: person.id,
    user_name: person.name,
    command: name,
    text,
    api_app_id: appId,
    is_enterprise_install: 'false',
    response_url: issueResponseUrl(world, source),
    trigger_id: issueTrigger(world, person.id),
  };
}
