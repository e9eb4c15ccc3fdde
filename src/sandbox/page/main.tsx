import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import './styles/base.css';
import './styles/frame.css';
import './styles/messages.css';
import './styles/blocks.css';
import './styles/series.css';
import './styles/elements.css';
import './styles/dialog.css';
import './styles/panel.css';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no root');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
