import './console.css';
import { render } from 'preact';
import { readSettings } from './client/page-settings.ts';
import { ConsoleApp } from './console-app.tsx';

const root = document.querySelector('#console');
if (root !== null) render(<ConsoleApp settings={readSettings()} />, root);
