import type { Message } from '../../protocol.ts';

export function Files({ files }: { files: Message['files'] }) {
  if (files.length === 0) return null;
  return (
    <ul className="files">
      {files.map(({ name, url, mimetype }) => (
        <li key={url}>
          <a className="file" href={url} download={name}>
            <span className="file-kind" aria-hidden="true">
              {name.split('.').at(-1)?.slice(0, 4).toUpperCase()}
            </span>
            <span className="file-words">
              <b>{name}</b>
              <small>{mimetype}</small>
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}
