import { createContext, use } from 'react';
import type { Channel, ClientState, Delivery, Interactions, Person } from '../protocol.ts';
import type { Address, Navigate } from './address.ts';
import type { Notices } from './slackbot-notices.ts';
import type { Reading } from './text/slack-date.ts';

export type DeliverRequest = <Path extends keyof Interactions>(
  path: Path,
  input: Interactions[Path],
) => Promise<Delivery>;

/** The state and the functions that every part of the page can use. */
export interface Session {
  readonly client: ClientState;
  readonly address: Address;
  readonly go: Navigate;
  /** Sends an interaction of the person to the bot, then reads the client state again. */
  readonly deliver: DeliverRequest;
  readonly notices: Notices;
  /** The time of the sandbox, and the time zone of the person. */
  readonly readDates: () => Reading;
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = use(SessionContext);
  if (session === null) throw new Error('This component must be inside a SessionContext');
  return session;
}

export const personOf = (client: ClientState, id: string): Person | undefined =>
  client.people.find((person) => person.id === id || person.secondId === id);

export const channelOf = (client: ClientState, id: string | null): Channel | undefined =>
  client.channels.find((channel) => channel.id === id);

/** The conversation with the app, which Slack shows as the Messages tab of the app. */
export const appChannel = (client: ClientState): Channel | undefined =>
  client.channels.find(({ kind, name }) => kind === 'dm' && name === client.botName);
