import type { Json } from '../protocol.ts';
import type { World } from './world.ts';

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
