import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import './styles/theme.css';
import './styles/base.css';
import './styles/frame.css';
import './styles/sidebar.css';
import './styles/messages.css';
import './styles/text.css';
import './styles/composer.css';
import './styles/blocks.css';
import './styles/tables.css';
import './styles/charts.css';
import './styles/elements.css';
import './styles/floating.css';
import './styles/dialog.css';
import './styles/panel.css';
import './guide/guide.css';
import './styles/phone.css';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no root');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
