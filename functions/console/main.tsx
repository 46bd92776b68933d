import './console.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { readSettings } from './settings.ts';

const root = document.querySelector('#console');
if (root !== null) render(<App settings={readSettings()} />, root);
