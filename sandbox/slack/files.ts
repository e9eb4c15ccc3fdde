import type { Json } from '../protocol.ts';
import type { Problem } from './block-kit/validate.ts';
import { isJson } from './json.ts';
import type { World } from './state.ts';

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

export function fileUrl(world: World, file: StoredFile): string {
  return `${world.url}/files-pri/${file.id}/${encodeURIComponent(file.name)}`;
}

export function fileJson(world: World, file: StoredFile): Json {
  const ready = file.looks > 0;
  return {
    id: file.id,
    name: file.name,
    title: file.title,
    size: file.length,
    mimetype: ready ? mimetypeOf(file) : '',
    user: world.workspace.botUserId,
    url_private: fileUrl(world, file),
    url_private_download: fileUrl(world, file),
    permalink: fileUrl(world, file),
    shares: ready ? sharesOf(world, file) : {},
  };
}

function sharesOf(world: World, file: StoredFile): Json {
  const messages = world.messages.filter((message) => message.fileIds.includes(file.id));
  return {
    public: Object.fromEntries(messages.map(({ channel, ts }) => [channel, [{ ts }]])),
  };
}

/** Blocks may show only images that are uploaded, looked over, and really images. */
export function fileProblems(world: World, value: unknown, pointer = '/blocks'): Problem[] {
  if (Array.isArray(value)) {
    return value.flatMap((one, index) => fileProblems(world, one, `${pointer}/${index}`));
  }
  if (!isJson(value)) return [];
  const here = isJson(value.slack_file) && !isShowable(world, value.slack_file);
  const problem = { pointer, code: 'invalid_slack_file', message: 'invalid slack file' };
  const inner = Object.entries(value).flatMap(([key, one]) =>
    fileProblems(world, one, `${pointer}/${key}`),
  );
  return here ? [problem, ...inner] : inner;
}

function isShowable(world: World, { id, url }: Json): boolean {
  const file = [...world.files.values()].find(
    (one) => one.id === id || fileUrl(world, one) === url,
  );
  return file !== undefined && file.looks > 0 && mimetypeOf(file).startsWith('image/');
}
