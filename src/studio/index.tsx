/** Entry of the browser application. */
import { render } from 'preact';
import { App } from './pages/app.tsx';
import './style/base.css';
import './style/layout.css';
import './style/story.css';
import './style/moment.css';
import './style/values.css';
import './style/conversation.css';
import './style/graph.css';
import './style/pages.css';

render(<App />, document.getElementById('studio')!);
