import type { DigestOptionsConfig } from '../../config/digest-options.ts';
import type { Answer } from '../../domain/answer.ts';
import { textAnswer } from '../../domain/answer.ts';
import type { DigestContext } from '../digest-context.ts';
import type { DigestSubscription } from './subscriptions.ts';

interface NamedDigest extends Pick<DigestSubscription, 'channel'> {
  /** Missing if they are invalid. */
  readonly options?: DigestOptionsConfig;
}

/** `#db-costs, 09:30` */
export async function digestText(
  { messenger }: Pick<DigestContext, 'messenger'>,
  { channel, options }: NamedDigest,
): Promise<string> {
  const found = (await messenger.findChannels([channel])).get(channel);
  const name = found?.ok ? `#${found.room.name}` : channel;
  return options ? `${name}, ${options.at}` : name;
}

/** The answer for a digest that Slack cannot change. */
export async function inFile(
  context: Pick<DigestContext, 'messenger'>,
  digest: DigestSubscription,
): Promise<Answer> {
  const text = `The digest ${await digestText(context, digest)} is from signalbox.yaml. Change it there.`;
  return textAnswer('Defined in the configuration file', text);
}
