import { jsonReply, type Reply, textReply } from '../api/reply.ts';
import { TRAITS } from './profiles.ts';
import type { AlertsState } from './state.ts';

/** One problem with a request. The path is empty for a problem with the whole body. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

export function alertsRefusal(status: number, message: string): Reply {
  return jsonReply(status, { message });
}

/** 400 with every issue, in the format of the current profile. */
export function invalid(
  { profile }: AlertsState,
  part: 'Body' | 'Params' | 'Query',
  issues: readonly Issue[],
): Reply {
  if (TRAITS[profile].errors === 'array') {
    const listed = issues.map(({ path, message }) => ({ path: path ? [path] : [], message }));
    return jsonReply(400, [{ type: part, errors: { issues: listed } }]);
  }
  const texts = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  return alertsRefusal(400, `${part} validation failed: ${texts.join('; ')}`);
}

export function alertNotFound({ profile }: AlertsState): Reply {
  return TRAITS[profile].unknownAlert === 'text'
    ? textReply(404, 'Not Found')
    : alertsRefusal(404, 'Alert not found');
}
