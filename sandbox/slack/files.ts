import express, { type Router } from 'express';
import type { Json } from '../json.ts';
import type { StoredFile } from './records.ts';
import type { SlackState } from './state.ts';

const mimetypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  csv: 'text/csv',
  txt: 'text/plain',
  json: 'application/json',
};

export function mimetypeOf(file: StoredFile): string {
  const extension = file.name.split('.').at(-1)?.toLowerCase() ?? '';
  return mimetypes[extension] ?? 'application/octet-stream';
}

export function fileUrl(slack: SlackState, file: StoredFile): string {
  return `${slack.url}/files-pri/${file.id}/${encodeURIComponent(file.name)}`;
}

/** A new file in the shape of Slack's API. Slack knows its type and shares only some time later. */
export function fileJson(slack: SlackState, file: StoredFile): Json {
  const url = fileUrl(slack, file);
  return {
    id: file.id,
    name: file.name,
    title: file.title,
    size: file.length,
    mimetype: '',
    user: slack.workspace.botUserId,
    url_private: url,
    url_private_download: url,
    permalink: url,
    shares: {},
  };
}

/** The routes to which an app uploads the bytes of a file, and from which people download them. */
export function fileRoutes(slack: SlackState): Router {
  const router = express.Router();
  const raw = express.raw({ type: () => true, limit: '20mb' });
  router.post('/upload/v1/:id', raw, async (request, response) => {
    const file = slack.files.get(String(request.params.id));
    if (!file || file.completed) return void response.status(404).send('not found');
    const content = await uploadedBytes(request.body, request.headers['content-type'] ?? '');
    if (content.length !== file.length) {
      return void response.status(400).send('length does not match');
    }
    file.content = content;
    response.send(`OK - ${content.length}`);
  });
  router.get('/files-pri/:id/:name', (request, response) => {
    const file = slack.files.get(String(request.params.id));
    if (!file?.completed || !file.content) return void response.status(404).send('not found');
    // The browser must not run an uploaded file as a page of the sandbox, whatever its type.
    response.set('content-security-policy', 'sandbox');
    response.set('x-content-type-options', 'nosniff');
    response.type(mimetypeOf(file)).send(Buffer.from(file.content));
  });
  return router;
}

/** The official client sends the bytes as one field of a form, other clients as the whole body. */
async function uploadedBytes(body: unknown, contentType: string): Promise<Uint8Array> {
  const raw = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  if (contentType.startsWith('application/x-www-form-urlencoded')) {
    return Buffer.from(new URLSearchParams(raw.toString()).get('body') ?? '');
  }
  if (!contentType.startsWith('multipart/form-data')) return raw;
  const request = new Response(new Uint8Array(raw), { headers: { 'content-type': contentType } });
  const [part] = [...(await request.formData()).values()];
  return part instanceof Blob ? new Uint8Array(await part.arrayBuffer()) : Buffer.from(part ?? '');
}
