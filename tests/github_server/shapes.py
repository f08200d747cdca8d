"""How our GitHub shows what it knows: JSON that fits GitHub's description."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tests.github_server.openapi import filled
from tests.github_server.state import (
    ACTIONS_APP_ID,
    APP_ID,
    Check,
    Comment,
    Delivery,
    Deployment,
    Installation,
    Issue,
    LabelChange,
    Person,
    Pull,
    Repository,
    Review,
    State,
)


def moment(at: datetime | None) -> str | None:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ") if at else None


class Shapes:
    """`api` and `web` are the addresses that answers point to."""

    def __init__(self, state: State, api: str, web: str) -> None:
        self.state, self.api, self.web = state, api, web

    def person(self, person: Person) -> dict[str, Any]:
        url = f"{self.api}/users/{person.login}"
        return filled("simple-user", id=person.id, login=person.login, type=person.type, url=url)

    def app(self, number: int = APP_ID) -> dict[str, Any]:
        ours = number == APP_ID
        return filled(
            "integration",
            id=number,
            slug=self.state.slug if ours else "github-actions",
            name=self.state.slug if ours else "GitHub Actions",
            owner=self.person(self.state.bot),
            permissions=self.state.app_permissions if ours else {},
            events=self.state.app_events if ours else [],
        )

    def installation(self, one: Installation) -> dict[str, Any]:
        return filled(
            "installation",
            id=one.id,
            app_id=APP_ID,
            app_slug=self.state.slug,
            # The description of the list wants what organisations and enterprises have, both.
            account=self.person(one.account)
            | {"name": one.account.login, "slug": one.account.login, "created_at": None, "updated_at": None},
            permissions=one.permissions,
            events=self.state.app_events,
            repository_selection="all" if one.repositories is None else "selected",
            suspended_at=moment(self.state.now()) if one.suspended else None,
        )

    def repository(self, one: Repository, schema: str = "full-repository") -> dict[str, Any]:
        return filled(
            schema,
            id=one.id,
            name=one.name,
            full_name=one.full_name,
            owner=self.person(one.owner),
            private=one.private,
            archived=one.archived,
            has_issues=one.has_issues,
            default_branch=one.default_branch,
            url=f"{self.api}/repos/{one.full_name}",
            html_url=f"{self.web}/{one.full_name}",
            clone_url=f"{self.web}/{one.full_name}.git",
            license=None,
        )

    def label(self, repository: Repository, name: str) -> dict[str, Any]:
        url = f"{self.api}/repos/{repository.full_name}/labels/{name}"
        return filled("label", name=name, color=repository.labels.get(name, "ededed"), url=url)

    def issue(self, repository: Repository, issue: Issue) -> dict[str, Any]:
        here = f"repos/{repository.full_name}"
        pull = (
            {
                "pull_request": {
                    "url": f"{self.api}/{here}/pulls/{issue.number}",
                    "diff_url": None,
                    "html_url": None,
                    "patch_url": None,
                }
            }
            if issue.pull
            else {}
        )
        return (
            filled(
                "issue",
                id=issue.id,
                number=issue.number,
                title=issue.title,
                body=issue.body or None,
                user=self.person(issue.author),
                state=issue.state,
                locked=issue.locked,
                labels=[self.label(repository, name) for name in issue.labels],
                comments=len(issue.comments),
                created_at=moment(issue.created),
                updated_at=moment(issue.updated),
                closed_at=moment(issue.closed_at),
                closed_by=self.person(issue.closed_by) if issue.closed_by else None,
                author_association="NONE",
                url=f"{self.api}/{here}/issues/{issue.number}",
                html_url=f"{self.web}/{repository.full_name}/issues/{issue.number}",
                repository_url=f"{self.api}/{here}",
            )
            | pull
        )

    def comment(self, repository: Repository, issue: Issue, one: Comment) -> dict[str, Any]:
        return filled(
            "issue-comment",
            id=one.id,
            body=one.body,
            user=self.person(one.author),
            created_at=moment(one.created),
            updated_at=moment(one.updated),
            author_association="NONE",
            url=f"{self.api}/repos/{repository.full_name}/issues/comments/{one.id}",
            html_url=f"{self.web}/{repository.full_name}/issues/{issue.number}#issuecomment-{one.id}",
            issue_url=f"{self.api}/repos/{repository.full_name}/issues/{issue.number}",
            performed_via_github_app=self.app() if one.app else None,
        )

    def label_change(self, repository: Repository, one: LabelChange) -> dict[str, Any]:
        return filled(
            "labeled-issue-event",
            id=one.id,
            actor=self.person(one.actor),
            event="labeled" if one.added else "unlabeled",
            label={"name": one.label, "color": repository.labels.get(one.label, "ededed")},
            commit_id=None,
            created_at=moment(one.at),
            performed_via_github_app=None,
        )

    def pull(self, repository: Repository, issue: Issue, *, short: bool = False) -> dict[str, Any]:
        pull = issue.pull
        assert pull
        longer = {} if short else {
            "merged": pull.merged,
            "mergeable": True,
            "mergeable_state": "clean",
            "merged_by": self.person(pull.merged_by) if pull.merged_by else None,
            "comments": len(issue.comments),
        }  # fmt: skip
        return filled(
            "pull-request-simple" if short else "pull-request",
            id=issue.id,
            number=issue.number,
            state=issue.state,
            title=issue.title,
            body=issue.body or None,
            user=self.person(issue.author),
            locked=issue.locked,
            labels=[self.label(repository, name) for name in issue.labels],
            draft=pull.draft,
            head=self._side(repository, pull, pull.head, pull.head_sha, pull.head_repository),
            base=self._side(repository, pull, pull.base, repository.git.head(pull.base) or "", repository.id),
            merge_commit_sha=pull.merge_commit,
            merged_at=moment(pull.merged_at),
            created_at=moment(issue.created),
            updated_at=moment(issue.updated),
            closed_at=moment(issue.closed_at),
            author_association="NONE",
            auto_merge=None,
            url=f"{self.api}/repos/{repository.full_name}/pulls/{issue.number}",
            html_url=f"{self.web}/{repository.full_name}/pull/{issue.number}",
            **longer,
        )

    def _side(self, here: Repository, pull: Pull, ref: str, sha: str, number: int | None) -> dict[str, Any]:
        of = self.state.repositories.get(number) if number is not None else None
        owner = of.owner if of else here.owner
        return {
            "label": f"{owner.login}:{ref}",
            "ref": ref,
            "sha": sha,
            "user": self.person(owner),
            "repo": self.repository(of, "repository") if of else None,
        }

    def review(self, repository: Repository, issue: Issue, one: Review) -> dict[str, Any]:
        return filled(
            "pull-request-review",
            id=one.id,
            user=self.person(one.author),
            body=one.body,
            state=one.state,
            commit_id=one.commit,
            submitted_at=moment(one.at),
            author_association="NONE",
            html_url=f"{self.web}/{repository.full_name}/pull/{issue.number}#pullrequestreview-{one.id}",
        )

    def remark(self, review: Review, remark: tuple[int, str, int | None, str]) -> dict[str, Any]:
        number, path, line, body = remark
        shown = {} if line is None else {"line": line}
        return filled(
            "pull-request-review-comment",
            id=number,
            pull_request_review_id=review.id,
            path=path,
            body=body,
            commit_id=review.commit,
            original_commit_id=review.commit,
            user=self.person(review.author),
            created_at=moment(review.at),
            updated_at=moment(review.at),
            author_association="NONE",
            **shown,
        )

    def check(self, repository: Repository, one: Check) -> dict[str, Any]:
        output = {"title": None, "summary": None, "text": None, **one.output}
        marks = output.pop("annotations", [])
        return filled(
            "check-run",
            id=one.id,
            name=one.name,
            head_sha=one.head_sha,
            status=one.status,
            conclusion=one.conclusion,
            external_id=one.external_id,
            started_at=moment(one.started),
            completed_at=moment(one.completed),
            output=output | {"annotations_count": len(marks), "annotations_url": f"{self.api}/annotations"},
            app=self.app(one.app),
            check_suite=None,
            url=f"{self.api}/repos/{repository.full_name}/check-runs/{one.id}",
            html_url=f"{self.web}/{repository.full_name}/runs/{one.id}",
        )

    def deployment(self, repository: Repository, one: Deployment) -> dict[str, Any]:
        return filled(
            "deployment",
            id=one.id,
            sha=one.sha,
            ref=one.sha,
            environment=one.environment,
            creator=None,
            payload={},
            created_at=moment(one.at),
            updated_at=moment(one.states[-1][2] if one.states else one.at),
            url=f"{self.api}/repos/{repository.full_name}/deployments/{one.id}",
        )

    def deployment_state(self, one: Deployment, number: int, state: str, at: datetime) -> dict[str, Any]:
        return filled(
            "deployment-status",
            id=number,
            state=state,
            creator=None,
            environment=one.environment,
            created_at=moment(at),
            updated_at=moment(at),
        )

    def delivery(self, one: Delivery) -> dict[str, Any]:
        return filled(
            "hook-delivery-item",
            id=one.id,
            guid=one.guid,
            delivered_at=moment(one.at),
            redelivery=one.redelivery,
            duration=0.1,
            status="OK" if 200 <= one.status_code < 300 else "failed to connect to host",
            status_code=one.status_code,
            event=one.event,
            action=one.action,
            installation_id=one.installation,
            repository_id=one.repository,
        )


__all__ = ["ACTIONS_APP_ID", "Shapes", "moment"]
