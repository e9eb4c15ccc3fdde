import type { Json } from '../protocol.ts';
import type { Problem } from './block-kit/validate.ts';
import { isJson } from './json.ts';
import type { SlackState } from './state.ts';

export interface StoredFile {
  readonly id: string;
  readonly name: string;
  title: string;
  readonly length: number;
  content: Uint8Array | null;
  completed: boolean;
  /** Slack looks a file over before it may be used: the first look finds it unfinished. */
  looks: number;
}

const mimetypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  csv: 'text/csv',
  txt: 'text/plain',
  json: 'application/json',
};

export function mimetypeOf(file: StoredFile): string {
  const ending = file.name.split('.').at(-1)?.toLowerCase() ?? '';
  return mimetypes[ending] ?? 'application/octet-stream';
}

export function fileUrl(slack: SlackState, file: StoredFile): string {
  return `${slack.url}/files-pri/${file.id}/${encodeURIComponent(file.name)}`;
}

export function fileJson(slack: SlackState, file: StoredFile): Json {
  const ready = file.looks > 0;
  return {
    id: file.id,
    name: file.name,
    title: file.title,
    size: file.length,
    mimetype: ready ? mimetypeOf(file) : '',
    user: slack.workspace.botUserId,
    url_private: fileUrl(slack, file),
    url_private_download: fileUrl(slack, file),
    permalink: fileUrl(slack, file),
    shares: ready ? sharesOf(slack, file) : {},
  };
}

function sharesOf(slack: SlackState, file: StoredFile): Json {
  const messages = slack.messages.filter((message) => message.fileIds.includes(file.id));
  return {
    public: Object.fromEntries(messages.map(({ channel, ts }) => [channel, [{ ts }]])),
  };
}

/** Blocks may show only images that are uploaded, looked over, and really images. */
export function fileProblems(slack: SlackState, value: unknown, pointer = '/blocks'): Problem[] {
  if (Array.isArray(value)) {
    return value.flatMap((one, index) => fileProblems(slack, one, `${pointer}/${index}`));
  }
  if (!isJson(value)) return [];
  const here = isJson(value.slack_file) && !isShowable(slack, value.slack_file);
  const problem = { pointer, code: 'invalid_slack_file', message: 'invalid slack file' };
  const inner = Object.entries(value).flatMap(([key, one]) =>
    fileProblems(slack, one, `${pointer}/${key}`),
  );
  return here ? [problem, ...inner] : inner;
}

function isShowable(slack: SlackState, { id, url }: Json): boolean {
  const file = [...slack.files.values()].find(
    (one) => one.id === id || fileUrl(slack, one) === url,
  );
  return file !== undefined && file.looks > 0 && mimetypeOf(file).startsWith('image/');
}
